import type { OwnerReference } from '#kubernetes/object.ts';
import { foregroundFinalizer, type OwnedObject, orphanFinalizer } from './owner-graph.ts';

/** What is known of one owner: there, gone, or there only until its dependents are gone. */
export type OwnerState = 'present' | 'gone' | 'waiting';

/** What happens to an object because of its owners. */
export type CollectDecision =
  | { readonly kind: 'keep' }
  /** Some owners stay: references to the others are dropped. */
  | { readonly kind: 'drop-owners'; readonly uids: readonly string[] }
  | { readonly kind: 'delete'; readonly policy: 'Background' | 'Foreground' | 'Orphan' };

function policyOf(object: OwnedObject): 'Background' | 'Foreground' | 'Orphan' {
  if (object.finalizers.includes(orphanFinalizer)) return 'Orphan';
  return object.finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background';
}

/**
 * Returns what becomes of `object` (GC-1…GC-3): it goes when every owner is gone or waits for its dependents, and loses
 * references to such owners while another owner stays.
 *
 * @param hasDependents whether the object itself owns others; a waiting owner then makes it wait likewise
 */
export function planCollection(
  object: OwnedObject,
  owners: readonly { readonly owner: OwnerReference; readonly state: OwnerState }[],
  hasDependents: boolean,
): CollectDecision {
  if (object.isDeleting || owners.length === 0) return { kind: 'keep' };
  const leaving = owners.filter(({ state }) => state !== 'present');
  if (leaving.length === 0) return { kind: 'keep' };
  if (leaving.length < owners.length) {
    return { kind: 'drop-owners', uids: leaving.map(({ owner }) => owner.uid) };
  }
  const isWaitedFor = leaving.some(({ state }) => state === 'waiting');
  return { kind: 'delete', policy: isWaitedFor && hasDependents ? 'Foreground' : policyOf(object) };
}
