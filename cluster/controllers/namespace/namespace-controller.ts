import type { Logger } from '#base/logger.ts';
import { millis } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Cached, Informer } from '#kubernetes/informer/informer.ts';
import { parseIdentity } from '#kubernetes/informer/parse-identity.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import { type ResourceType, resourceTypes } from '#kubernetes/resource-type.ts';
import { isAlreadyExists, isConflict, isNotFound } from '#kubernetes/transport/api-error.ts';
import { runWorkers } from '../run-workers.ts';

/** What the namespace controller reads of a namespace. */
export interface NamespaceView extends Cached {
  readonly isDeleting: boolean;
}

/** Returns a Namespace. */
export function parseNamespace(object: KubernetesObject): NamespaceView {
  const isDeleting = object.metadata.deletionTimestamp !== undefined;
  return { ...parseIdentity(object), isDeleting };
}

/** What the namespace controller is made of. */
export interface NamespaceControllerOptions {
  readonly client: Client;
  readonly namespaces: Informer<NamespaceView>;
  /** Keys are names of namespaces. */
  readonly queue: WorkQueue;
  readonly log: Logger;
  /** The namespaced types whose objects can be deleted. */
  readonly contentTypes: () => Promise<readonly ResourceType[]>;
}

const lookAgain = millis(500);

/** Empties namespaces that are being deleted, then lets them go (GC-5). */
export class NamespaceController {
  readonly #options: NamespaceControllerOptions;

  constructor(options: NamespaceControllerOptions) {
    this.#options = options;
    options.namespaces.onChange(({ kind, object }) => {
      if (kind !== 'deleted' && object.isDeleting) options.queue.add(object.name);
    });
  }

  /** Drains until the queue is shut down. */
  async run(): Promise<void> {
    const { namespaces, queue, log } = this.#options;
    await namespaces.synced;
    await runWorkers({ queue, log, count: 4, reconcile: (name) => this.#drain(name) });
  }

  async #drain(name: string): Promise<void> {
    const { namespaces, queue, contentTypes } = this.#options;
    if (namespaces.lister.get('', name)?.isDeleting !== true) return;
    const types = await contentTypes();
    const counts = await Promise.all(types.map((type) => this.#deleteAll(type, name)));
    if (counts.some((count) => count > 0)) queue.addAfter(name, lookAgain);
    else await this.#finalize(name);
  }

  /** Deletes all objects. @returns how many objects were there; pods stay for their grace period */
  async #deleteAll(type: ResourceType, namespace: string): Promise<number> {
    const { client } = this.#options;
    const { items } = await client.list(type, { namespace });
    await Promise.all(
      items
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(async ({ metadata: { name, uid } }) => {
          try {
            const preconditions = { uid };
            const propagationPolicy = 'Background' as const;
            await client.delete(type, { namespace, name }, { preconditions, propagationPolicy });
          } catch (error) {
            if (!isNotFound(error) && !isConflict(error)) throw error;
          }
        }),
    );
    return items.length;
  }

  async #finalize(name: string): Promise<void> {
    const { client } = this.#options;
    try {
      const live = await client.get(resourceTypes.namespaces, { name });
      if (live.metadata.deletionTimestamp === undefined) return;
      const body = { ...live, spec: { finalizers: [] } };
      await client.replace(resourceTypes.namespaces, { name }, { body, subresource: 'finalize' });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

/** Gives every namespace its serviceaccount `default`, one step after it appears (GC-5). */
export class ServiceAccountController {
  readonly #client: Client;
  readonly #log: Logger;
  readonly #queue: WorkQueue;

  constructor(options: {
    readonly client: Client;
    readonly namespaces: Informer<NamespaceView>;
    /** Keys are names of namespaces. */
    readonly queue: WorkQueue;
    readonly log: Logger;
  }) {
    this.#client = options.client;
    this.#log = options.log;
    this.#queue = options.queue;
    options.namespaces.onChange(({ kind, object }) => {
      if (kind === 'added' && !object.isDeleting) options.queue.add(object.name);
    });
  }

  /** Creates accounts until the queue is shut down. */
  async run(): Promise<void> {
    const reconcile = (namespace: string): Promise<void> => this.#ensure(namespace);
    await runWorkers({ queue: this.#queue, log: this.#log, count: 4, reconcile });
  }

  async #ensure(namespace: string): Promise<void> {
    const name = 'default';
    const metadata = { name, namespace };
    const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata };
    try {
      await this.#client.create(resourceTypes.serviceAccounts, metadata, { body });
    } catch (error) {
      // Gone again, or going: a terminating namespace refuses new content with 403 and the cause NamespaceTerminating.
      const isLeaving =
        isNotFound(error) || (error instanceof Error && error.message.includes('being terminated'));
      if (!isAlreadyExists(error) && !isLeaving) throw error;
    }
  }
}
