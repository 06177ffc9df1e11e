import type { SetName, SetOwners } from '#control/watch/owners-of-sets.ts';
import type { Change, Informer } from '#kubernetes/informer/informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { finalizer, type RolloutView } from './parse-resource.ts';
import { indexes } from './reconcile/phased-indexes.ts';

/** As conflicts name it. */
export const phasedKind: string = resourceTypes.phasedRollouts.kind;

/** Returns the PhasedRollouts that target the set, in no order; one that is deleted is there until it has let it go. */
export function rolloutsOf(
  { lister }: Pick<Informer<RolloutView>, 'lister'>,
  { namespace, name }: SetName,
): readonly RolloutView[] {
  return lister
    .by(indexes.target, `${namespace}/${name}`)
    .filter((each) => !each.isDeleting || each.finalizers.includes(finalizer));
}

/**
 * Returns PhasedRollouts, as others ask that could move their sets. One that is being deleted names its set until it has let
 * it go.
 *
 * @param isListed whether they may be listed, as far as is known; undefined while that is being found out
 */
export function phasedRolloutOwners(
  rollouts: Pick<Informer<RolloutView>, 'lister' | 'hasSynced' | 'onChange' | 'onState'>,
  isListed: () => boolean | undefined,
): SetOwners {
  return {
    kind: phasedKind,
    naming: (set: StatefulSetView) =>
      rolloutsOf(rollouts, set)
        .map((each) => `${phasedKind} ${each.name}`)
        .toSorted(),
    unknown: () =>
      isListed() === false || rollouts.hasSynced
        ? undefined
        : `whether a ${phasedKind} names a set is not known, as they could not be listed yet`,
    onChange: (wake) => rollouts.onChange((change) => targetsOf(change).forEach(wake)),
    onState: (wake) => rollouts.onState(wake),
  };
}

/** Returns the sets that a PhasedRollout named before `change`, and names after it. */
function targetsOf(change: Change<RolloutView>): readonly SetName[] {
  const states = change.kind === 'updated' ? [change.old, change.object] : [change.object];
  return states.flatMap(({ namespace, spec }) =>
    spec.kind === 'valid' ? [{ namespace, name: spec.value.targetRef }] : [],
  );
}
