import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { millis } from '#base/units.ts';
import type { User } from '#embedded-cluster/cluster.ts';
import { SeededRandom } from '#embedded-cluster/seeded-random.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/event-recorder.ts';
import { createClient } from '#kubernetes/http-client.ts';
import type { Cached, Informer, InformerProblem } from '#kubernetes/informer.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import type { Indexers } from '#kubernetes/object-cache.ts';
import { createWorkQueue } from '#kubernetes/rate-limited-queue.ts';
import { type ResourceType, resourceTypes } from '#kubernetes/resource-type.ts';
import { createInformer } from '#kubernetes/shared-informer.ts';
import type { Transport } from '#kubernetes/transport.ts';
import type { WorkQueue } from '#kubernetes/work-queue.ts';
import { discoverTypes, isDeletable } from './discover-types.ts';
import {
  budgetPodIndexers,
  DisruptionController,
  type DisruptionDelay,
} from './disruption/disruption-controller.ts';
import { parseBudget, parseBudgetPod, parseScaledSet } from './disruption/parse-views.ts';
import { EventWriter, silentRecorder } from './event-writer.ts';
import { TypeFollower } from './garbage-collector/follow-types.ts';
import { GarbageCollector } from './garbage-collector/garbage-collector.ts';
import { type OwnedObject, parseOwned } from './garbage-collector/owner-graph.ts';
import {
  NamespaceController,
  parseNamespace,
  ServiceAccountController,
} from './namespace/namespace-controller.ts';
import { parseIdentity } from './parse-identity.ts';
import { parsePod, parseRevision, parseSet } from './statefulset/parse-views.ts';
import {
  ownerIndexers,
  StatefulSetController,
  setIndexers,
} from './statefulset/statefulset-controller.ts';
import type { SetSwitches } from './statefulset/views.ts';

/** The controllers that can be started. */
export type ControllerName =
  | 'disruption'
  | 'garbage-collector'
  | 'namespace'
  | 'serviceaccount'
  | 'statefulset';

/** Options of {@link startControllers}. */
export interface ControllersOptions {
  /** A connection per user (MS-1). */
  readonly transportFor: (user: User) => Transport;
  readonly clock: Clock;
  readonly seed: number;
  readonly log: Logger;
  /** Which controllers run. @default all */
  readonly only?: readonly ControllerName[];
  /** @default maxUnavailable off: a beta feature of 1.35 and 1.36 that is not on by default */
  readonly switches?: Partial<SetSwitches>;
  /** How long after a change the status of a budget is written, at random in between (PD-4). @default 0 to 50 ms */
  readonly disruptionDelay?: DisruptionDelay;
  /** Whether the controllers write Events (SS-22). @default true */
  readonly areEventsWritten?: boolean;
}

/** The running controllers. */
export interface Controllers {
  /** Resolves when all caches are filled; rejects when they cannot be. */
  readonly ready: Promise<void>;
  /** Ends watches, queues and timers; resolves when all work under way has ended. */
  stop(): Promise<void>;
}

/** Starts the controllers of a control plane that StatefulSets need, as ordinary API clients (MS-1). */
export function startControllers(options: ControllersOptions): Controllers {
  return new ControllerHost(options);
}

const everyController: readonly ControllerName[] = [
  'statefulset',
  'disruption',
  'garbage-collector',
  'namespace',
  'serviceaccount',
];

const defaultDisruptionDelay: DisruptionDelay = Object.freeze({
  minimum: millis(0),
  maximum: millis(50),
});

class ControllerHost implements Controllers {
  readonly ready: Promise<void>;
  readonly #options: ControllersOptions;
  readonly #stop = new AbortController();
  readonly #transports: Transport[] = [];
  readonly #queues: WorkQueue[] = [];
  readonly #recorders: EventRecorder[] = [];
  readonly #runs: Promise<void>[] = [];

  constructor(options: ControllersOptions) {
    this.#options = options;
    this.ready = this.#start(new Set(options.only ?? everyController));
    // Whoever awaits `ready` gets the failure; it is no unhandled one when nobody does.
    this.ready.catch((error: unknown) => {
      options.log.error('controllers did not start', {
        error: errorOf(error),
      });
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the controllers were stopped'));
    for (const queue of this.#queues) queue.shutDown();
    await Promise.allSettled(this.#runs);
    await Promise.all(this.#recorders.map((recorder) => recorder.flush()));
    await Promise.all(this.#transports.map((transport) => transport.close()));
  }

  async #start(wanted: ReadonlySet<ControllerName>): Promise<void> {
    const starts: Promise<void>[] = [];
    if (wanted.has('statefulset')) starts.push(this.#startStatefulSet());
    if (wanted.has('disruption')) starts.push(this.#startDisruption());
    if (wanted.has('namespace')) starts.push(this.#startNamespace());
    if (wanted.has('serviceaccount')) starts.push(this.#startServiceAccount());
    if (wanted.has('garbage-collector')) starts.push(this.#startGarbageCollector());
    await Promise.all(starts);
  }

  async #startStatefulSet(): Promise<void> {
    const { clock, log, switches } = this.#options;
    const client = this.#connect('statefulset-controller');
    const caches = {
      sets: this.#informer(client, resourceTypes.statefulSets, {
        project: parseSet,
        indexers: setIndexers,
      }),
      pods: this.#informer(client, resourceTypes.pods, {
        project: parsePod,
        indexers: ownerIndexers,
      }),
      revisions: this.#informer(client, resourceTypes.controllerRevisions, {
        project: parseRevision,
        indexers: ownerIndexers,
      }),
      claims: this.#informer(client, resourceTypes.persistentVolumeClaims, {
        project: parseIdentity,
        indexers: {},
      }),
    };
    const controller = new StatefulSetController({
      client,
      clock,
      log,
      caches,
      queue: this.#queue('statefulset'),
      events: this.#recorder(client, 'statefulset-controller'),
      switches: { maxUnavailable: false, replacesUnavailableFirst: false, ...switches },
    });
    this.#runs.push(controller.run());
    await this.#run(Object.values(caches));
  }

  async #startDisruption(): Promise<void> {
    const client = this.#connect('disruption-controller');
    const { clock, log, seed, disruptionDelay = defaultDisruptionDelay } = this.#options;
    const caches = {
      budgets: this.#informer(client, resourceTypes.podDisruptionBudgets, {
        project: parseBudget,
        indexers: {},
      }),
      pods: this.#informer(client, resourceTypes.pods, {
        project: parseBudgetPod,
        indexers: budgetPodIndexers,
      }),
      sets: this.#informer(client, resourceTypes.statefulSets, {
        project: parseScaledSet,
        indexers: {},
      }),
    };
    const controller = new DisruptionController({
      client,
      clock,
      log,
      ...caches,
      queue: this.#queue('disruption'),
      events: this.#recorder(client, 'controllermanager'),
      random: new SeededRandom(seed).derive('disruption'),
      delay: disruptionDelay,
    });
    this.#runs.push(controller.run());
    await this.#run(Object.values(caches));
  }

  async #startNamespace(): Promise<void> {
    const client = this.#connect('namespace-controller');
    const namespaces = this.#informer(client, resourceTypes.namespaces, {
      project: parseNamespace,
      indexers: {},
    });
    const contentTypes = async (): Promise<readonly ResourceType[]> => {
      const served = await discoverTypes(client);
      return served
        .filter(isDeletable)
        .map(({ type }) => type)
        .filter((type) => type.isNamespaced);
    };
    const queue = this.#queue('namespace');
    const { log } = this.#options;
    const controller = new NamespaceController({ client, namespaces, queue, log, contentTypes });
    this.#runs.push(controller.run());
    await this.#run([namespaces]);
  }

  async #startServiceAccount(): Promise<void> {
    const client = this.#connect('service-account-controller');
    const namespaces = this.#informer(client, resourceTypes.namespaces, {
      project: parseNamespace,
      indexers: {},
    });
    const queue = this.#queue('serviceaccount');
    const { log } = this.#options;
    this.#runs.push(new ServiceAccountController({ client, namespaces, queue, log }).run());
    await this.#run([namespaces]);
  }

  async #startGarbageCollector(): Promise<void> {
    const client = this.#connect('generic-garbage-collector');
    const { clock, log, seed } = this.#options;
    const collector: GarbageCollector = new GarbageCollector({
      client,
      log,
      queue: this.#queue('garbage-collector'),
      events: this.#recorder(client, 'garbage-collector-controller'),
      random: new SeededRandom(seed).derive('garbage-collector'),
      typeOf: (apiVersion, kind) => types.typeOf(apiVersion, kind),
    });
    const follow = async (fresh: readonly ResourceType[]): Promise<void> => {
      await this.#run(fresh.map((type) => this.#collected(client, type, collector)));
    };
    const types = new TypeFollower({ client, clock, log, follow });
    this.#stop.signal.addEventListener('abort', () => types.stop());
    await types.discover();
    // Nothing is judged before all caches are filled: an owner may be in the one that is not.
    this.#runs.push(collector.run());
    types.repeat();
  }

  #collected(
    client: Client,
    type: ResourceType,
    collector: GarbageCollector,
  ): Informer<OwnedObject> {
    const project = (object: KubernetesObject): OwnedObject => parseOwned(type, object);
    const informer = this.#informer(client, type, { project, indexers: {} });
    informer.onChange((change) => collector.objectChanged(change));
    return informer;
  }

  async #run(informers: readonly Informer<Cached>[]): Promise<void> {
    for (const informer of informers) this.#runs.push(informer.run(this.#stop.signal));
    await Promise.all(informers.map((informer) => informer.synced));
  }

  #connect(account: string): Client {
    const groups = ['system:serviceaccounts', 'system:authenticated'];
    const name = `system:serviceaccount:kube-system:${account}`;
    const transport = this.#options.transportFor({ name, groups });
    this.#transports.push(transport);
    const { clock } = this.#options;
    return createClient({ transport, clock, timeout: millis(0), userAgent: account });
  }

  #queue(name: string): WorkQueue {
    const queue = createWorkQueue({ clock: this.#options.clock, name });
    this.#queues.push(queue);
    return queue;
  }

  #recorder(client: Client, component: string): EventRecorder {
    const { clock, log, areEventsWritten = true } = this.#options;
    const recorder = areEventsWritten
      ? new EventWriter({ client, clock, log, component })
      : silentRecorder;
    this.#recorders.push(recorder);
    return recorder;
  }

  #informer<T extends Cached>(
    client: Client,
    type: ResourceType,
    kept: {
      readonly project: (object: KubernetesObject) => T;
      readonly indexers: Indexers<T>;
    },
  ): Informer<T> {
    const { clock, log } = this.#options;
    const report = ({ reason, message }: InformerProblem): void => {
      log.warn('informer problem', { type: type.plural, reason, problem: message });
    };
    return createInformer({ client, clock, type, report, isAbsentAllowed: true, ...kept });
  }
}
