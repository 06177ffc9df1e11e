import type { SetName, SetOwners } from '#control/watch/owners-of-sets.ts';
import type { Change, Informer } from '#kubernetes/informer/informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { finalizer, type RolloutView } from './parse-resource.ts';
import { rolloutAnnotation } from './statefulset/wanted-set.ts';

/** As conflicts name it. */
export const rolloutKind: string = resourceTypes.statefulsetRollouts.kind;

/** Name of the index of StatefulsetRollouts by namespace and name of the set that they carry. */
const bySet = 'statefulset-rollout-set';

/** The indexer of StatefulsetRollouts by their sets. */
export const rolloutIndexers = Object.freeze({
  [bySet]: ({ namespace, spec }: RolloutView): readonly string[] =>
    spec.kind === 'invalid' ? [] : [`${namespace}/${spec.value.set.name}`],
});

/** Returns the StatefulsetRollouts that carry the set, in no order; one that is deleted is there until it has let it go. */
export function rolloutsOf(
  { lister }: Pick<Informer<RolloutView>, 'lister'>,
  { namespace, name }: SetName,
): readonly RolloutView[] {
  return lister
    .by(bySet, `${namespace}/${name}`)
    .filter((each) => !each.isDeleting || each.finalizers.includes(finalizer));
}

/** Reports whether `set` carries the mark of `rollout`. */
export function isMarked(set: StatefulSetView | undefined, rollout: RolloutView): boolean {
  return set?.annotations[rolloutAnnotation] === `${rollout.namespace}/${rollout.name}`;
}

/**
 * Returns which other StatefulsetRollout the set of `rollout` belongs to: the one that the set names, or else the older one,
 * or by its uid; undefined where it belongs to `rollout` itself.
 */
export function rivalOf(
  rollout: RolloutView,
  set: StatefulSetView | undefined,
  rollouts: Pick<Informer<RolloutView>, 'lister'>,
): string | undefined {
  const { namespace, spec } = rollout;
  if (spec.kind === 'invalid' || isMarked(set, rollout)) return undefined;
  const all = rolloutsOf(rollouts, { namespace, name: spec.value.set.name });
  const marked = all.find((each) => isMarked(set, each));
  const [first = rollout] = all.toSorted(
    (one, other) => compare(one.createdAt, other.createdAt) || compare(one.uid, other.uid),
  );
  const owner = marked ?? first;
  return owner.uid === rollout.uid ? undefined : `${rolloutKind} ${owner.name}`;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/**
 * Returns StatefulsetRollouts, as others ask that could move their sets.
 *
 * @param isListed whether they may be listed, as far as is known; undefined while that is being found out
 */
export function statefulsetRolloutOwners(
  rollouts: Pick<Informer<RolloutView>, 'lister' | 'hasSynced' | 'onChange' | 'onState'>,
  isListed: () => boolean | undefined = () => true,
): SetOwners {
  return {
    kind: rolloutKind,
    naming: (set) =>
      rolloutsOf(rollouts, set)
        .map((each) => `${rolloutKind} ${each.name}`)
        .toSorted(),
    unknown: () =>
      isListed() === false || rollouts.hasSynced
        ? undefined
        : `whether a ${rolloutKind} names a set is not known, as they could not be listed yet`,
    onChange: (wake) => rollouts.onChange((change) => setsOf(change).forEach(wake)),
    onState: (wake) => rollouts.onState(wake),
  };
}

/** Returns the sets that a StatefulsetRollout carried before `change`, and carries after it. */
export function setsOf(change: Change<RolloutView>): readonly SetName[] {
  const states = change.kind === 'updated' ? [change.old, change.object] : [change.object];
  return states.flatMap(({ namespace, spec }) =>
    spec.kind === 'valid' ? [{ namespace, name: spec.value.set.name }] : [],
  );
}
