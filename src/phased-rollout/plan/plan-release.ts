import { setRef } from '#control/decision/refs.ts';
import type { PhasedSnapshot, TargetSet } from '../snapshot.ts';
import type { PhasedDecision } from './plan-decision.ts';
import { holdOn, type Outcome } from './plan-outcome.ts';

/** Returns what has to happen before a PhasedRollout that is deleted may go. */
export function planDeletion(snapshot: PhasedSnapshot): Outcome {
  const { resource, target, former } = snapshot;
  if (!resource.hasFinalizer) return {};
  const sets = target === undefined ? former : [target, ...former];
  const decisions = releasesOf(snapshot, sets);
  if (decisions.length > 0) {
    const until = decisions.find((each) => each.kind === 'hold')?.until;
    return { decisions, ...(until !== undefined && { requeue: { kind: 'at', at: until } }) };
  }
  const because = { reason: 'Released', message: 'No StatefulSet names it any more' } as const;
  return { decisions: [{ kind: 'remove-finalizer', because }] };
}

/** Returns what takes the marks of `snapshot`'s resource off those of `sets` that carry them. */
export function releasesOf(
  snapshot: PhasedSnapshot,
  sets: readonly TargetSet[],
): readonly PhasedDecision[] {
  const { name } = snapshot.resource;
  return sets
    .filter(({ owner }) => owner === name)
    .map(({ set }): PhasedDecision => {
      const isBlocked = set.spec.partition > 0;
      // To drop the partition lets the pods below it roll.
      const hold = isBlocked ? holdOn(snapshot, 'lifted') : undefined;
      if (hold !== undefined) {
        const { because, until } = hold;
        return { kind: 'hold', ...(until !== undefined && { until }), because };
      }
      // A maxUnavailable that is next to it must stay.
      const dropsAll = set.spec.hasMaxUnavailable ? 'partition' : 'rolling-update';
      return {
        kind: 'release',
        set: setRef(set),
        revision: set.resourceVersion,
        drops: isBlocked ? dropsAll : 'nothing',
        because: {
          reason: 'Released',
          message: `${set.name} is not rolled out by ${name} any more`,
        },
      };
    });
}
