import type { Cached } from '#kubernetes/informer/informer.ts';
import { parseIdentity } from '#kubernetes/informer/parse-identity.ts';
import type { KubernetesObject, OwnerReference } from '#kubernetes/object.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import { objectsAt, textAt, textsAt } from '../../json/read-json.ts';

/** What the garbage collector reads of any object. */
export interface OwnedObject extends Cached {
  readonly type: ResourceType;
  readonly owners: readonly OwnerReference[];
  readonly isDeleting: boolean;
  readonly finalizers: readonly string[];
}

/** The finalizer of a foreground deletion (GC-3). */
export const foregroundFinalizer = 'foregroundDeletion';
/** The finalizer of a deletion that leaves its dependents alone (GC-3). */
export const orphanFinalizer = 'orphan';

/** Returns the owner references of an object. */
function ownersOf(object: KubernetesObject): readonly OwnerReference[] {
  return objectsAt(object, 'metadata', 'ownerReferences').map((owner) => ({
    apiVersion: textAt(owner, 'apiVersion'),
    kind: textAt(owner, 'kind'),
    name: textAt(owner, 'name'),
    uid: textAt(owner, 'uid'),
    controller: owner['controller'] === true,
    blockOwnerDeletion: owner['blockOwnerDeletion'] === true,
  }));
}

/** Returns an object of `type`, as far as garbage collection goes. */
export function parseOwned(type: ResourceType, object: KubernetesObject): OwnedObject {
  const { metadata } = object;
  return {
    ...parseIdentity(object),
    type,
    owners: ownersOf(object),
    isDeleting: metadata.deletionTimestamp !== undefined,
    finalizers: textsAt(metadata, 'finalizers'),
  };
}

/** Reports whether an object waits, in foreground deletion, for its dependents. */
export function isWaitingForDependents(object: OwnedObject): boolean {
  return object.isDeleting && object.finalizers.includes(foregroundFinalizer);
}

/** Which object owns which, over all types, as the caches show it. */
export class OwnerGraph {
  readonly #objects = new Map<string, OwnedObject>();
  readonly #dependents = new Map<string, Set<string>>();
  readonly #gone = new Set<string>();

  /** Returns the object of this uid; undefined when no cache shows it. */
  get(uid: string): OwnedObject | undefined {
    return this.#objects.get(uid);
  }

  /** Reports whether this uid is known to exist no more; uids never come back. */
  isGone(uid: string): boolean {
    return this.#gone.has(uid);
  }

  /** Returns the objects with an owner reference to `uid`, in no order. */
  dependentsOf(uid: string): readonly OwnedObject[] {
    const found: OwnedObject[] = [];
    for (const dependent of this.#dependents.get(uid) ?? []) {
      const object = this.#objects.get(dependent);
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  /** Takes in an object's newest state. */
  put(object: OwnedObject): void {
    const old = this.#objects.get(object.uid);
    this.#objects.set(object.uid, object);
    if (old !== undefined) this.#unlink(old);
    for (const { uid } of object.owners) {
      const dependents = this.#dependents.get(uid) ?? new Set();
      dependents.add(object.uid);
      this.#dependents.set(uid, dependents);
    }
  }

  /** Removes an object; its uid is gone for good. */
  remove(object: OwnedObject): void {
    this.#objects.delete(object.uid);
    this.#unlink(object);
    this.markGone(object.uid);
  }

  /** Notes that a live read found no object of this uid. */
  markGone(uid: string): void {
    this.#gone.add(uid);
  }

  #unlink(object: OwnedObject): void {
    for (const { uid } of object.owners) {
      const dependents = this.#dependents.get(uid);
      dependents?.delete(object.uid);
      if (dependents?.size === 0) this.#dependents.delete(uid);
    }
  }
}
