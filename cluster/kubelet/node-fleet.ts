import type { Clock, Timer } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { type Millis, minutes, seconds } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isAlreadyExists, isConflict, isNotFound } from '#kubernetes/transport/api-error.ts';
import { microTimestamp, timestamp } from '../clock/timestamp.ts';
import { textAt } from '../json/read-json.ts';
import { leaseBody, nodeBody, nodeReady, nodeStatus } from './node-documents.ts';
import type { NodeConfig } from './node-fleet-options.ts';
import type { KubeletPod } from './views.ts';

/** What a {@link NodeFleet} is made of. */
export interface NodeFleetOptions {
  readonly nodes: readonly NodeConfig[];
  /** The connection of a node's kubelet. */
  readonly clientOf: (node: string) => Client;
  /** The connection of the node lifecycle controller. */
  readonly controller: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly podsOn: (node: string) => readonly KubeletPod[];
  /** The kubelet of a node stopped or went on; `hasLostReady` when its pods were marked not Ready meanwhile. */
  readonly changed: (node: string, hasLostReady: boolean) => void;
}

interface NodeState {
  readonly config: NodeConfig;
  readonly address: string;
  isUp: boolean;
  hasLostReady: boolean;
  renewal: Timer | undefined;
  outage: Timer | undefined;
}

const renewEvery = seconds(10);
const unknownAfter = seconds(40);
const evictAfter = minutes(5);
const collectAfter = seconds(20);

/** The nodes of the stand-in: their objects, their leases, and what happens to pods when one fails (KU-1, KU-6). */
export class NodeFleet {
  readonly #options: NodeFleetOptions;
  readonly #states = new Map<string, NodeState>();
  /** The version of the API server: the kubelets are of its age. */
  #version = '';

  constructor(options: NodeFleetOptions) {
    this.#options = options;
    options.nodes.forEach((config, index) => {
      const address = `192.168.${Math.floor(index / 250)}.${(index % 250) + 1}`;
      this.#states.set(config.name, {
        config,
        address,
        isUp: true,
        hasLostReady: false,
        renewal: undefined,
        outage: undefined,
      });
    });
  }

  /** Names of all configured nodes. */
  get names(): readonly string[] {
    return [...this.#states.keys()];
  }

  /** Reports whether the node's kubelet works; nodes that are not ours have none. */
  isUp(node: string): boolean {
    return this.#states.get(node)?.isUp ?? false;
  }

  /** Returns the node's address; empty for one that is not ours. */
  hostIP(node: string): string {
    return this.#states.get(node)?.address ?? '';
  }

  /** Creates the Node objects and their leases; those that exist stay. */
  async start(): Promise<void> {
    const answer = await this.#options.controller.raw({ method: 'GET', path: '/version' });
    this.#version = textAt(answer, 'gitVersion');
    await Promise.all([...this.#states.values()].map((state) => this.#join(state)));
  }

  /** Cancels all timers. */
  stop(): void {
    for (const state of this.#states.values()) this.#halt(state);
  }

  /** Has the node fail: its lease is renewed no more, its pods stay as they are until the API notices (KU-6). */
  down(node: string): void {
    const state = this.#stateOf(node);
    if (!state.isUp) return;
    this.#halt(state);
    state.isUp = false;
    this.#options.changed(node, false);
    this.#later(state, unknownAfter, () => this.#markUnknown(state));
  }

  /** Has the node work again; what its pods missed goes on. */
  async up(node: string): Promise<void> {
    const state = this.#stateOf(node);
    if (state.isUp) return;
    this.#halt(state);
    await this.#join(state);
    const { hasLostReady } = state;
    state.isUp = true;
    state.hasLostReady = false;
    this.#options.changed(node, hasLostReady);
  }

  /** Has the node and its Node object vanish; its pods are removed by force 20 s later (GC-6). */
  async gone(node: string): Promise<void> {
    const state = this.#stateOf(node);
    this.#halt(state);
    state.isUp = false;
    this.#options.changed(node, false);
    await this.#tolerant(() =>
      this.#options.controller.delete(resourceTypes.nodes, { name: node }, { preconditions: {} }),
    );
    this.#later(state, collectAfter, () => this.#deletePods(state, 0));
  }

  #stateOf(node: string): NodeState {
    const state = this.#states.get(node);
    if (state !== undefined) return state;
    throw new Error(`Cannot find node "${node}" as the stand-in has only ${this.names.join(', ')}`);
  }

  #halt(state: NodeState): void {
    state.renewal?.cancel();
    state.outage?.cancel();
    state.renewal = undefined;
    state.outage = undefined;
  }

  #later(state: NodeState, delay: Millis, act: () => Promise<void>): void {
    const owner = 'node-outage';
    state.outage = this.#options.clock.timer(delay, () => void this.#guard(act), { owner });
  }

  async #guard(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#options.log.warn('node step failed', {
        error: errorOf(error),
      });
    }
  }

  async #join(state: NodeState): Promise<void> {
    const { clientOf, clock } = this.#options;
    const { config, address } = state;
    const client = clientOf(config.name);
    const key = { name: config.name };
    const body = nodeBody(config);
    await this.#tolerant(() => client.create(resourceTypes.nodes, key, { body }));
    // A real API server taints new nodes until a controller, which the real lane does not run, clears that.
    const untainted = { kind: 'merge', document: { spec: { taints: null } } } as const;
    await client.patch(resourceTypes.nodes, key, { body: untainted });
    const document = nodeStatus(config, { address, version: this.#version, now: clock.now() });
    const status = { body: { kind: 'merge', document }, subresource: 'status' } as const;
    await client.patch(resourceTypes.nodes, key, status);
    await this.#renew(state);
  }

  async #renew(state: NodeState): Promise<void> {
    const { clientOf, clock } = this.#options;
    const { name } = state.config;
    const key = { namespace: 'kube-node-lease', name };
    const renewTime = microTimestamp(clock.now());
    const body = { kind: 'merge', document: { spec: { renewTime } } } as const;
    const client = clientOf(name);
    try {
      await client.patch(resourceTypes.leases, key, { body });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const lease = leaseBody(name, clock.now());
      await this.#tolerant(() => client.create(resourceTypes.leases, key, { body: lease }));
    }
    state.renewal = clock.timer(renewEvery, () => void this.#renewOnTime(state), {
      owner: 'node-lease',
      background: true,
    });
  }

  async #renewOnTime(state: NodeState): Promise<void> {
    await this.#guard(async () => {
      try {
        await this.#renew(state);
      } catch (error) {
        state.renewal = this.#options.clock.timer(renewEvery, () => void this.#renewOnTime(state), {
          owner: 'node-lease',
          background: true,
        });
        throw error;
      }
    });
  }

  async #markUnknown(state: NodeState): Promise<void> {
    const { controller, clock, podsOn } = this.#options;
    const { name } = state.config;
    const conditions = [nodeReady('Unknown', clock.now())];
    const body = { kind: 'strategic', document: { status: { conditions } } } as const;
    state.hasLostReady = true;
    this.#later(state, evictAfter, () => this.#deletePods(state, undefined));
    await controller.patch(resourceTypes.nodes, { name }, { body, subresource: 'status' });
    await Promise.all(podsOn(name).map((pod) => this.#markNotReady(pod)));
  }

  async #markNotReady(pod: KubeletPod): Promise<void> {
    if (!pod.trueConditions.includes('Ready')) return;
    const { controller, clock } = this.#options;
    const condition = {
      type: 'Ready',
      status: 'False',
      lastTransitionTime: timestamp(clock.now()),
    };
    const document = { metadata: { uid: pod.uid }, status: { conditions: [condition] } };
    const key = { namespace: pod.namespace, name: pod.name };
    const body = { kind: 'strategic', document } as const;
    await this.#tolerant(() =>
      controller.patch(resourceTypes.pods, key, { body, subresource: 'status' }),
    );
  }

  async #deletePods(state: NodeState, grace: number | undefined): Promise<void> {
    const { controller, podsOn } = this.#options;
    await Promise.all(
      podsOn(state.config.name).map((pod) =>
        this.#tolerant(() =>
          controller.delete(
            resourceTypes.pods,
            { namespace: pod.namespace, name: pod.name },
            {
              preconditions: { uid: pod.uid },
              ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
            },
          ),
        ),
      ),
    );
  }

  /** Tolerates that something is gone, there already, or replaced: it is as wanted. */
  async #tolerant(write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!isNotFound(error) && !isAlreadyExists(error) && !isConflict(error)) throw error;
    }
  }
}
