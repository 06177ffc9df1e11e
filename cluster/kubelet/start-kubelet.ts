/**
 * Nodes that play their pods: scheduling, volumes, starts, probes and ends, at times that a test sets. No program runs in
 * such a pod.
 */
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { millis } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import type { Cached, Informer, InformerProblem } from '#kubernetes/informer/informer.ts';
import { createInformer } from '#kubernetes/informer/shared-informer.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { type ResourceType, resourceTypes } from '#kubernetes/resource-type.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import type { User } from '../cluster.ts';
import { Behaviours } from './behaviours.ts';
import { ClaimBinder } from './claim-binder.ts';
import { type DelayOverride, type Delays, DelayTable } from './delays.ts';
import { NodeFleet } from './node-fleet.ts';
import { type NodeConfig, type NodeCount, nodesOf } from './node-fleet-options.ts';
import { parseClaim, parseKubeletPod, parseNode } from './parse-views.ts';
import { PodAgent } from './pod-agent.ts';
import { Scheduler } from './scheduler.ts';
import { VolumeProvisioner } from './volume-provisioner.ts';
import { WriteLimit } from './write-limit.ts';

/** Options of {@link startKubelet}. */
export interface KubeletOptions {
  /** A connection per user (MS-1); against a real API server all may be one. */
  readonly transportFor: (user: User) => Transport;
  readonly clock: Clock;
  readonly seed: number;
  readonly log: Logger;
  /** @default 3 nodes in 3 zones */
  readonly nodes?: NodeCount | readonly NodeConfig[];
  /** @default stop 100 ms, bind 100 ms, start 1 s, ready 2 s, no jitter */
  readonly delays?: Partial<Delays>;
  /** Delays for some pods; later ones win. */
  readonly overrides?: readonly DelayOverride[];
  /** Whether claims get volumes, of a class `standard`; else they are bound without one. @default false */
  readonly areVolumesMade?: boolean;
  /** Writes under way at the same time. @default 64 */
  readonly maxInFlight?: number;
}

/** The running stand-in for scheduler, nodes and kubelets (KU). */
export interface Kubelet {
  /** Changes what pods do, at run time (KU-5). */
  readonly behaviours: Behaviours;
  readonly nodeNames: readonly string[];
  /** Resolves when the nodes exist and the caches are filled; rejects when they cannot. */
  readonly ready: Promise<void>;
  /** Has the node fail: Ready Unknown after 40 s, its pods terminate after 5 min and stay (KU-6). */
  nodeDown(node: string): void;
  /** Has the node work again. */
  nodeUp(node: string): Promise<void>;
  /** Removes the node object; its pods go by force 20 s later. */
  nodeGone(node: string): Promise<void>;
  /** Ends watches and timers; leaves the nodes' objects. */
  stop(): Promise<void>;
}

/** Starts scheduler, nodes and kubelets as ordinary API clients (KU-7). */
export function startKubelet(options: KubeletOptions): Kubelet {
  return new KubeletStandIn(options);
}

const scheduler: User = {
  name: 'system:kube-scheduler',
  groups: ['system:authenticated'],
};

function serviceAccount(name: string): User {
  return {
    name: `system:serviceaccount:kube-system:${name}`,
    groups: ['system:serviceaccounts', 'system:authenticated'],
  };
}

class KubeletStandIn implements Kubelet {
  readonly behaviours: Behaviours;
  readonly ready: Promise<void>;
  readonly #options: KubeletOptions;
  readonly #fleet: NodeFleet;
  readonly #agent: PodAgent;
  readonly #clients = new Map<string, Client>();
  readonly #transports: Transport[] = [];
  readonly #stop = new AbortController();
  readonly #runs: Promise<void>[] = [];

  constructor(options: KubeletOptions) {
    this.#options = options;
    const { clock, seed, log } = options;
    const limit = new WriteLimit(options.maxInFlight ?? 64);
    const client = this.#connect(scheduler);
    const nodes = this.#informer(client, resourceTypes.nodes, parseNode);
    const pods = this.#informer(client, resourceTypes.pods, parseKubeletPod);
    const binder = this.#connect(serviceAccount('persistent-volume-binder'));
    const claims = this.#informer(binder, resourceTypes.persistentVolumeClaims, parseClaim);
    const schedule = new Scheduler({ client, clock, seed, log, nodes: nodes.lister });
    this.behaviours = new Behaviours(() => this.#agent.evaluateAll());
    const clientOf = (node: string): Client => this.#nodeClient(node);
    this.#agent = new PodAgent({
      clock,
      log,
      limit,
      behaviours: this.behaviours,
      delays: new DelayTable(options, seed),
      host: {
        bind: (pod, retry) => schedule.bind(pod, retry),
        hold: (pod) => schedule.hold(pod),
        release: (pod) => schedule.release(pod),
        clientOf,
        isUp: (node) => this.#fleet.isUp(node),
        hostIP: (node) => this.#fleet.hostIP(node),
      },
    });
    this.#fleet = new NodeFleet({
      nodes: nodesOf(options.nodes ?? { count: 3 }),
      clientOf,
      controller: this.#connect(serviceAccount('node-controller')),
      clock,
      log,
      podsOn: (node) => this.#agent.podsOn(node),
      changed: (node, hasLostReady) => this.#agent.nodeChanged(node, hasLostReady),
    });
    const volumes = options.areVolumesMade === true ? new VolumeProvisioner(binder) : undefined;
    const claimBinder = new ClaimBinder({ client: binder, limit, log, volumes });
    nodes.onChange(() => schedule.wakeWaiting());
    pods.onChange((change) => this.#agent.podChanged(change));
    claims.onChange((change) => claimBinder.claimChanged(change));
    this.ready = this.#start([nodes, pods, claims], volumes);
    // The failure reaches those that await `ready`; it is no unhandled one when none does.
    this.ready.catch((error: unknown) => {
      log.error('kubelet stand-in did not start', {
        error: errorOf(error),
      });
    });
  }

  get nodeNames(): readonly string[] {
    return this.#fleet.names;
  }

  nodeDown(node: string): void {
    this.#fleet.down(node);
  }

  async nodeUp(node: string): Promise<void> {
    await this.#fleet.up(node);
  }

  async nodeGone(node: string): Promise<void> {
    await this.#fleet.gone(node);
  }

  async stop(): Promise<void> {
    this.#fleet.stop();
    this.#agent.stop();
    this.#stop.abort(new Error('the kubelet stand-in was stopped'));
    await Promise.allSettled(this.#runs);
    await Promise.all(this.#transports.map((transport) => transport.close()));
  }

  async #start(
    informers: readonly Informer<Cached>[],
    volumes: VolumeProvisioner | undefined,
  ): Promise<void> {
    await Promise.all([this.#fleet.start(), volumes?.start()]);
    for (const informer of informers) this.#runs.push(informer.run(this.#stop.signal));
    await Promise.all(informers.map((informer) => informer.synced));
  }

  #connect(user: User): Client {
    const transport = this.#options.transportFor(user);
    this.#transports.push(transport);
    const { clock } = this.#options;
    return createClient({ transport, clock, timeout: millis(0), userAgent: 'kubelet-stand-in' });
  }

  #nodeClient(node: string): Client {
    const known = this.#clients.get(node);
    if (known !== undefined) return known;
    const groups = ['system:nodes', 'system:authenticated'];
    const client = this.#connect({ name: `system:node:${node}`, groups });
    this.#clients.set(node, client);
    return client;
  }

  #informer<T extends Cached>(
    client: Client,
    type: ResourceType,
    project: (object: KubernetesObject) => T,
  ): Informer<T> {
    const { clock, log } = this.#options;
    const report = (problem: InformerProblem): void => {
      log.warn('informer problem', {
        type: type.plural,
        reason: problem.reason,
        problem: problem.message,
      });
    };
    return createInformer({ client, clock, type, project, indexers: {}, report });
  }
}
