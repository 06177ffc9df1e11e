import type { SetName, SetOwners } from '#control/watch/owners-of-sets.ts';
import type { Change, Informer } from '#kubernetes/informer/informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { UpdateView } from './parse-resource.ts';

/** As conflicts name it. */
export const updateKind: string = resourceTypes.zoneAwareUpdates.kind;

/** Name of the index of ZoneAwareUpdates by namespace and name of the set that they update. */
const bySet = 'zone-aware-update-set';

/** The indexer of ZoneAwareUpdates by their sets. */
export const updateIndexers = Object.freeze({
  [bySet]: ({ namespace, spec }: UpdateView): readonly string[] =>
    spec.kind === 'invalid' ? [] : [`${namespace}/${spec.value.statefulSet}`],
});

/** Returns the ZoneAwareUpdates that name the set, in no order; those that only plan are among them. */
export function updatesOf(
  { lister }: Pick<Informer<UpdateView>, 'lister'>,
  { namespace, name }: SetName,
): readonly UpdateView[] {
  return lister.by(bySet, `${namespace}/${name}`);
}

/** Reports whether it would delete pods, if all else is well. */
function isActive({ spec, isDeleting }: UpdateView): boolean {
  return !isDeleting && spec.kind === 'valid' && !spec.value.isDryRun;
}

/**
 * Returns the name of the ZoneAwareUpdate that updates the set of `update` in its place, being older, or by its name where
 * both are as old (W-14); undefined where it may itself, or only plans.
 */
export function rivalOf(
  update: UpdateView,
  updates: Pick<Informer<UpdateView>, 'lister'>,
): string | undefined {
  const { namespace, spec } = update;
  if (spec.kind === 'invalid' || !isActive(update)) return undefined;
  const [first = update] = updatesOf(updates, { namespace, name: spec.value.statefulSet })
    .filter(isActive)
    .toSorted(
      (one, other) => compare(one.createdAt, other.createdAt) || compare(one.name, other.name),
    );
  return first.name === update.name ? undefined : first.name;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/**
 * Returns ZoneAwareUpdates, as others ask that could move their sets: they name a set only where its update strategy is
 * OnDelete.
 *
 * @param isListed whether they may be listed, as far as is known; undefined while that is being found out
 */
export function zoneAwareUpdateOwners(
  updates: Pick<Informer<UpdateView>, 'lister' | 'hasSynced' | 'onChange' | 'onState'>,
  isListed: () => boolean | undefined = () => true,
): SetOwners {
  return {
    kind: updateKind,
    naming: (set: StatefulSetView) =>
      set.spec.updateStrategy === 'OnDelete'
        ? updatesOf(updates, set)
            .filter(isActive)
            .map((each) => `${updateKind} ${each.name}`)
            .toSorted()
        : [],
    unknown: () =>
      isListed() === false || updates.hasSynced
        ? undefined
        : `whether a ${updateKind} names a set is not known, as they could not be listed yet`,
    onChange: (wake) => updates.onChange((change) => targetsOf(change).forEach(wake)),
    onState: (wake) => updates.onState(wake),
  };
}

/** Returns both states of a change: the sets that it names, and those that it named. */
function targetsOf(change: Change<UpdateView>): readonly SetName[] {
  const states = change.kind === 'updated' ? [change.old, change.object] : [change.object];
  return states.flatMap(({ namespace, spec }) =>
    spec.kind === 'valid' ? [{ namespace, name: spec.value.statefulSet }] : [],
  );
}
