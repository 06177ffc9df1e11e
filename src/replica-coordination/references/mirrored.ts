import type { SetSnapshot } from '#control/watch/group-sets.ts';
import { type Reference, referenceId, referenceOf } from '../api.ts';

/** What a set mirrors. */
export interface Mirrored {
  readonly namespace: string;
  readonly reference: Reference;
}

/** Returns what `sets` mirror, by {@link referenceId}. */
export function mirroredBy(sets: readonly SetSnapshot[]): ReadonlyMap<string, Mirrored> {
  const wanted = new Map<string, Mirrored>();
  for (const { set } of sets) {
    const reference = referenceOf(set);
    if (reference === undefined || set.isDeleting) continue;
    wanted.set(referenceId(set.namespace, reference), { namespace: set.namespace, reference });
  }
  return wanted;
}
