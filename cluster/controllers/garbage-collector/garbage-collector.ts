import type { JsonObject } from '#base/json.ts';
import type { Logger } from '#base/logger.ts';
import { millis } from '#base/units.ts';
import type { Client, ObjectKey } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { Change } from '#kubernetes/informer/informer.ts';
import type { KubernetesObject, OwnerReference } from '#kubernetes/object.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import { apiVersionOf, type ResourceType } from '#kubernetes/resource-type.ts';
import { isNotFound } from '#kubernetes/transport/api-error.ts';
import { objectsAt, textAt, textsAt } from '../../json/read-json.ts';
import type { SeededRandom } from '../../seeded-random.ts';
import { runWorkers } from '../run-workers.ts';
import {
  foregroundFinalizer,
  isWaitingForDependents,
  type OwnedObject,
  OwnerGraph,
  orphanFinalizer,
  parseOwned,
} from './owner-graph.ts';
import { type OwnerState, planCollection } from './plan-collection.ts';

/** What the garbage collector is made of. */
export interface GarbageCollectorOptions {
  readonly client: Client;
  /** Keys are uids. */
  readonly queue: WorkQueue;
  readonly events: EventRecorder;
  readonly random: SeededRandom;
  readonly log: Logger;
  /** The served type of an owner reference; undefined for an unknown kind. */
  readonly typeOf: (apiVersion: string, kind: string) => ResourceType | undefined;
}

/** Longest time in which a change waits to be looked at; also what shuffles the order (GC-1, GC-4). */
const longestDelay = 200;

function keyOf({ type, namespace, name }: OwnedObject): ObjectKey {
  return type.isNamespaced ? { namespace, name } : { name };
}

/** Deletes what has lost its owners, and finishes foreground and orphaning deletions (GC-1…GC-4). */
export class GarbageCollector {
  readonly #options: GarbageCollectorOptions;
  readonly #graph = new OwnerGraph();

  constructor(options: GarbageCollectorOptions) {
    this.#options = options;
  }

  /** Takes a change in the cache of any type. */
  objectChanged({ kind, object }: Change<OwnedObject>): void {
    if (kind === 'deleted') {
      this.#graph.remove(object);
      for (const dependent of this.#graph.dependentsOf(object.uid)) this.#enqueue(dependent.uid);
      this.#wakeWaitingOwners(object);
      return;
    }
    this.#graph.put(object);
    const hasTask =
      object.isDeleting &&
      (object.finalizers.includes(foregroundFinalizer) ||
        object.finalizers.includes(orphanFinalizer));
    if (hasTask || object.owners.some((owner) => this.#isDoubtful(owner, object))) {
      this.#enqueue(object.uid);
    }
  }

  /** Collects until the queue is shut down. */
  async run(): Promise<void> {
    const { queue, log } = this.#options;
    await runWorkers({ queue, log, count: 16, reconcile: (uid) => this.#collect(uid) });
  }

  #isDoubtful(owner: OwnerReference, object: OwnedObject): boolean {
    const known = this.#graph.get(owner.uid);
    if (known === undefined) return true;
    return isWaitingForDependents(known) || !isWithinReach(known, object);
  }

  #enqueue(uid: string): void {
    const { queue, random } = this.#options;
    queue.addAfter(uid, millis(random.below(longestDelay + 1)));
  }

  #wakeWaitingOwners(object: OwnedObject): void {
    for (const { uid } of object.owners) {
      const owner = this.#graph.get(uid);
      if (owner !== undefined && isWaitingForDependents(owner)) this.#enqueue(uid);
    }
  }

  async #collect(uid: string): Promise<void> {
    const object = this.#graph.get(uid);
    if (object === undefined) return;
    if (isWaitingForDependents(object)) await this.#finishForeground(object);
    else if (object.isDeleting) await this.#orphan(object);
    else if (object.owners.length > 0) await this.#examine(object);
  }

  async #finishForeground(object: OwnedObject): Promise<void> {
    const dependents = this.#graph.dependentsOf(object.uid);
    const blocks = ({ owners }: OwnedObject): boolean =>
      owners.some(
        ({ uid, blockOwnerDeletion }) => uid === object.uid && blockOwnerDeletion === true,
      );
    if (!dependents.some((dependent) => blocks(dependent))) {
      await this.#removeFinalizer(object, foregroundFinalizer);
    }
    for (const dependent of dependents) if (!dependent.isDeleting) this.#enqueue(dependent.uid);
  }

  async #orphan(object: OwnedObject): Promise<void> {
    if (!object.finalizers.includes(orphanFinalizer)) return;
    const dependents = this.#graph.dependentsOf(object.uid);
    await Promise.all(dependents.map((dependent) => this.#dropOwners(dependent, [object.uid])));
    await this.#removeFinalizer(object, orphanFinalizer);
  }

  /** Decides on a live read of the object: the cache may lag behind its owner references (GC-2). */
  async #examine(cached: OwnedObject): Promise<void> {
    const live = await this.#read(cached.type, keyOf(cached));
    if (live === undefined || live.metadata.uid !== cached.uid) return;
    const object = parseOwned(cached.type, live);
    const owners: { readonly owner: OwnerReference; readonly state: OwnerState }[] = [];
    for (const owner of object.owners) {
      owners.push({ owner, state: await this.#stateOf(owner, object) });
    }
    const hasDependents = this.#graph.dependentsOf(object.uid).length > 0;
    const decision = planCollection(object, owners, hasDependents);
    if (decision.kind === 'drop-owners') await this.#dropOwners(object, decision.uids);
    if (decision.kind === 'delete') await this.#delete(object, decision.policy);
  }

  async #stateOf(owner: OwnerReference, object: OwnedObject): Promise<OwnerState> {
    const known = this.#graph.get(owner.uid);
    if (known !== undefined && isWithinReach(known, object)) {
      return isWaitingForDependents(known) ? 'waiting' : 'present';
    }
    if (known !== undefined) this.#noteForeignNamespace(owner, object);
    if (this.#graph.isGone(owner.uid)) return 'gone';
    if (await this.#isAlive(owner, object)) return 'present';
    if (known === undefined) this.#graph.markGone(owner.uid);
    return 'gone';
  }

  async #isAlive(owner: OwnerReference, object: OwnedObject): Promise<boolean> {
    const { apiVersion, kind, name, uid } = owner;
    const type = this.#options.typeOf(apiVersion, kind);
    if (type === undefined) {
      throw new Error(
        `Cannot check the owner of ${object.type.kind} "${object.namespace}/${object.name}" as the server serves no ${kind} in ${apiVersion}`,
      );
    }
    const key = type.isNamespaced ? { namespace: object.namespace, name } : { name };
    const live = await this.#read(type, key);
    return live?.metadata.uid === uid;
  }

  #noteForeignNamespace(owner: OwnerReference, object: OwnedObject): void {
    const { namespace, name, uid, type } = object;
    this.#options.events.record({
      about: { apiVersion: apiVersionOf(type), kind: type.kind, namespace, name, uid },
      type: 'Warning',
      reason: 'OwnerRefInvalidNamespace',
      message: `ownerRef ${owner.kind} "${owner.name}" with uid ${owner.uid} does not exist in namespace "${namespace}"`,
    });
  }

  async #read(type: ResourceType, key: ObjectKey): Promise<KubernetesObject | undefined> {
    try {
      return await this.#options.client.get(type, key);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #delete(
    object: OwnedObject,
    propagationPolicy: 'Background' | 'Foreground' | 'Orphan',
  ): Promise<void> {
    const preconditions = { uid: object.uid };
    try {
      const options = { preconditions, propagationPolicy };
      await this.#options.client.delete(object.type, keyOf(object), options);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** Patches metadata from a live read, guarded by its version; a conflict comes back with the key's backoff. */
  async #rewrite(
    object: OwnedObject,
    change: (live: KubernetesObject) => JsonObject,
  ): Promise<void> {
    const live = await this.#read(object.type, keyOf(object));
    if (live === undefined || live.metadata.uid !== object.uid) return;
    const { resourceVersion } = live.metadata;
    const document = { metadata: { resourceVersion, ...change(live) } };
    const body = { kind: 'merge', document } as const;
    try {
      await this.#options.client.patch(object.type, keyOf(object), { body });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async #dropOwners(object: OwnedObject, uids: readonly string[]): Promise<void> {
    await this.#rewrite(object, (live) => ({
      ownerReferences: objectsAt(live, 'metadata', 'ownerReferences').filter(
        (owner) => !uids.includes(textAt(owner, 'uid')),
      ),
    }));
  }

  async #removeFinalizer(object: OwnedObject, finalizer: string): Promise<void> {
    await this.#rewrite(object, (live) => ({
      finalizers: textsAt(live, 'metadata', 'finalizers').filter((name) => name !== finalizer),
    }));
  }
}

/** Reports whether an owner is cluster-scoped or in the namespace of what it owns (GC-2). */
function isWithinReach(owner: OwnedObject, object: OwnedObject): boolean {
  return owner.namespace === '' || owner.namespace === object.namespace;
}
