/**
 * The controllers of the cluster: StatefulSets, budgets, endpoints, namespaces, garbage. They see and write through the
 * server alone, as real ones do.
 */
import { errorOf } from '#base/error-of.ts';
import { millis } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { parseIdentity } from '#kubernetes/informer/parse-identity.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { type ResourceType, resourceTypes } from '#kubernetes/resource-type.ts';
import { SeededRandom } from '../seeded-random.ts';
import { ControllerParts, type ControllerPartsOptions } from './controller-parts.ts';
import { discoverTypes, isDeletable } from './discover-types.ts';
import {
  budgetPodIndexers,
  DisruptionController,
  type DisruptionDelay,
} from './disruption/disruption-controller.ts';
import { parseBudget, parseBudgetPod, parseScaledSet } from './disruption/parse-views.ts';
import { EndpointsController, namespaceIndexers } from './endpoints/endpoints-controller.ts';
import { parseEndpointPod, parseService } from './endpoints/views.ts';
import { TypeFollower } from './garbage-collector/follow-types.ts';
import { GarbageCollector } from './garbage-collector/garbage-collector.ts';
import { type OwnedObject, parseOwned } from './garbage-collector/owner-graph.ts';
import {
  NamespaceController,
  parseNamespace,
  ServiceAccountController,
} from './namespace/namespace-controller.ts';
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
  | 'endpoints'
  | 'garbage-collector'
  | 'namespace'
  | 'serviceaccount'
  | 'statefulset';

/** Options of {@link startControllers}. */
export interface ControllersOptions extends ControllerPartsOptions {
  readonly seed: number;
  /** Which controllers run. @default all but `endpoints`, whose objects only people read */
  readonly only?: readonly ControllerName[];
  /** @default maxUnavailable off: a beta feature of 1.35 and 1.36 that is not on by default */
  readonly switches?: Partial<SetSwitches>;
  /** How long after a change the status of a budget is written, at random in between (PD-4). @default 0 to 50 ms */
  readonly disruptionDelay?: DisruptionDelay;
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

/** Those that a rollout depends on. */
export const usualControllers: readonly ControllerName[] = [
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
  readonly #parts: ControllerParts;

  constructor(options: ControllersOptions) {
    this.#options = options;
    this.#parts = new ControllerParts(options);
    this.ready = this.#start(new Set(options.only ?? usualControllers));
    // The failure reaches those that await `ready`; it is no unhandled one when none does.
    this.ready.catch((error: unknown) => {
      options.log.error('controllers did not start', {
        error: errorOf(error),
      });
    });
  }

  stop(): Promise<void> {
    return this.#parts.stop();
  }

  async #start(wanted: ReadonlySet<ControllerName>): Promise<void> {
    const starts: Promise<void>[] = [];
    if (wanted.has('statefulset')) starts.push(this.#startStatefulSet());
    if (wanted.has('disruption')) starts.push(this.#startDisruption());
    if (wanted.has('endpoints')) starts.push(this.#startEndpoints());
    if (wanted.has('namespace')) starts.push(this.#startNamespace());
    if (wanted.has('serviceaccount')) starts.push(this.#startServiceAccount());
    if (wanted.has('garbage-collector')) starts.push(this.#startGarbageCollector());
    await Promise.all(starts);
  }

  async #startStatefulSet(): Promise<void> {
    const { clock, log, switches } = this.#options;
    const client = this.#parts.connect('statefulset-controller');
    const caches = {
      sets: this.#parts.informer(client, resourceTypes.statefulSets, {
        project: parseSet,
        indexers: setIndexers,
      }),
      pods: this.#parts.informer(client, resourceTypes.pods, {
        project: parsePod,
        indexers: ownerIndexers,
      }),
      revisions: this.#parts.informer(client, resourceTypes.controllerRevisions, {
        project: parseRevision,
        indexers: ownerIndexers,
      }),
      claims: this.#parts.informer(client, resourceTypes.persistentVolumeClaims, {
        project: parseIdentity,
        indexers: {},
      }),
    };
    const controller = new StatefulSetController({
      client,
      clock,
      log,
      caches,
      queue: this.#parts.queue('statefulset'),
      events: this.#parts.recorder(client, 'statefulset-controller'),
      switches: { maxUnavailable: false, replacesUnavailableFirst: false, ...switches },
    });
    this.#parts.running(controller.run());
    await this.#parts.sync(Object.values(caches));
  }

  async #startDisruption(): Promise<void> {
    const client = this.#parts.connect('disruption-controller');
    const { clock, log, seed, disruptionDelay = defaultDisruptionDelay } = this.#options;
    const caches = {
      budgets: this.#parts.informer(client, resourceTypes.podDisruptionBudgets, {
        project: parseBudget,
        indexers: {},
      }),
      pods: this.#parts.informer(client, resourceTypes.pods, {
        project: parseBudgetPod,
        indexers: budgetPodIndexers,
      }),
      sets: this.#parts.informer(client, resourceTypes.statefulSets, {
        project: parseScaledSet,
        indexers: {},
      }),
    };
    const controller = new DisruptionController({
      client,
      clock,
      log,
      ...caches,
      queue: this.#parts.queue('disruption'),
      events: this.#parts.recorder(client, 'controllermanager'),
      random: new SeededRandom(seed).derive('disruption'),
      delay: disruptionDelay,
    });
    this.#parts.running(controller.run());
    await this.#parts.sync(Object.values(caches));
  }

  async #startEndpoints(): Promise<void> {
    const client = this.#parts.connect('endpoints-controller');
    const services = this.#parts.informer(client, resourceTypes.services, {
      project: parseService,
      indexers: namespaceIndexers,
    });
    const pods = this.#parts.informer(client, resourceTypes.pods, {
      project: parseEndpointPod,
      indexers: namespaceIndexers,
    });
    const queue = this.#parts.queue('endpoints');
    const { log } = this.#options;
    this.#parts.running(new EndpointsController({ client, services, pods, queue, log }).run());
    await this.#parts.sync([services, pods]);
  }

  async #startNamespace(): Promise<void> {
    const client = this.#parts.connect('namespace-controller');
    const namespaces = this.#parts.informer(client, resourceTypes.namespaces, {
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
    const queue = this.#parts.queue('namespace');
    const { log } = this.#options;
    const controller = new NamespaceController({ client, namespaces, queue, log, contentTypes });
    this.#parts.running(controller.run());
    await this.#parts.sync([namespaces]);
  }

  async #startServiceAccount(): Promise<void> {
    const client = this.#parts.connect('service-account-controller');
    const namespaces = this.#parts.informer(client, resourceTypes.namespaces, {
      project: parseNamespace,
      indexers: {},
    });
    const queue = this.#parts.queue('serviceaccount');
    const { log } = this.#options;
    this.#parts.running(new ServiceAccountController({ client, namespaces, queue, log }).run());
    await this.#parts.sync([namespaces]);
  }

  async #startGarbageCollector(): Promise<void> {
    const client = this.#parts.connect('generic-garbage-collector');
    const { clock, log, seed } = this.#options;
    const collector: GarbageCollector = new GarbageCollector({
      client,
      log,
      queue: this.#parts.queue('garbage-collector'),
      events: this.#parts.recorder(client, 'garbage-collector-controller'),
      random: new SeededRandom(seed).derive('garbage-collector'),
      typeOf: (apiVersion, kind) => types.typeOf(apiVersion, kind),
    });
    const follow = async (fresh: readonly ResourceType[]): Promise<void> => {
      await this.#parts.sync(fresh.map((type) => this.#collected(client, type, collector)));
    };
    const types = new TypeFollower({ client, clock, log, follow });
    this.#parts.signal.addEventListener('abort', () => types.stop());
    await types.discover();
    // Nothing is judged before all caches are filled: an owner may be in the one that is not.
    this.#parts.running(collector.run());
    types.repeat();
  }

  #collected(
    client: Client,
    type: ResourceType,
    collector: GarbageCollector,
  ): Informer<OwnedObject> {
    const project = (object: KubernetesObject): OwnedObject => parseOwned(type, object);
    const informer = this.#parts.informer(client, type, { project, indexers: {} });
    informer.onChange((change) => collector.objectChanged(change));
    return informer;
  }
}
