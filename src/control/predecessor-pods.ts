import { isOutdated, targetRevision } from '#statefulset/revision.ts';
import { slotsOf } from '#statefulset/slot.ts';
import type { PodRef } from './decision.ts';
import type { GroupMoment } from './group-moment.ts';
import type { SetSnapshot } from './group-sets.ts';
import { podRef } from './refs.ts';

/** Pods that an earlier process may have been deleting: the outdated ones, or all while that cannot be told. */
export function podsDeletableBefore(
  snapshot: SetSnapshot,
  { leaving, now }: GroupMoment,
): readonly PodRef[] {
  const target = targetRevision(snapshot.set);
  return slotsOf({ ...snapshot, leaving }, now).flatMap((slot) => {
    if (slot.kind === 'missing' || slot.kind === 'terminating') return [];
    return target === undefined || isOutdated(slot.pod, target) ? [podRef(slot.pod)] : [];
  });
}
