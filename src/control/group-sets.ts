import type { Lister } from '#kubernetes/informer.ts';
import { groupKey, groupOf } from '#statefulset/group.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';

/** One StatefulSet of a group with the pods that it controls. */
export interface SetSnapshot {
  readonly set: StatefulSetView;
  /** Pods whose controlling owner is this set, by uid; in no order. */
  readonly pods: readonly PodView[];
  /** Names of pods of the namespace that have no controlling owner. */
  readonly orphans: readonly string[];
}

/** Names of the indexes that {@link readSets} asks for. */
export const indexes = Object.freeze({
  /** StatefulSets by group key. */
  group: 'group',
  /** StatefulSets by uid. */
  uid: 'uid',
  /** Pods by the uid of their controlling owner. */
  controller: 'controller',
  /** Pods without a controlling owner, by namespace. */
  orphan: 'orphan',
});

/** The indexers behind {@link indexes} of StatefulSets. */
export const statefulSetIndexers = Object.freeze({
  [indexes.group]: (set: StatefulSetView): readonly string[] => {
    const group = groupOf(set);
    return group === undefined ? [] : [groupKey(set.namespace, group)];
  },
  [indexes.uid]: (set: StatefulSetView): readonly string[] => [set.uid],
});

/** The indexers behind {@link indexes} of pods. */
export const podIndexers = Object.freeze({
  [indexes.controller]: (pod: PodView): readonly string[] =>
    pod.controllerUid === undefined ? [] : [pod.controllerUid],
  [indexes.orphan]: (pod: PodView): readonly string[] =>
    pod.controllerUid === undefined ? [pod.namespace] : [],
});

/** The caches that a group is read from. */
export interface GroupListers {
  readonly statefulSets: Lister<StatefulSetView>;
  readonly pods: Lister<PodView>;
}

/** The sets of a group with their pods, from the caches, sorted; empty when the group has none. */
export function readSets(key: string, listers: GroupListers): readonly SetSnapshot[] {
  const sets = listers.statefulSets.by(indexes.group, key);
  return sets.toSorted(byName).map((set) => ({
    set,
    pods: listers.pods.by(indexes.controller, set.uid),
    orphans: namesOf(listers.pods.by(indexes.orphan, set.namespace)),
  }));
}

/** The same list where there are none, as nearly always: snapshots are compared by what they hold. */
function namesOf(pods: readonly PodView[]): readonly string[] {
  return pods.length === 0 ? none : pods.map((pod) => pod.name);
}

const none: readonly string[] = Object.freeze([]);

function byName(left: StatefulSetView, right: StatefulSetView): number {
  return left.name < right.name ? -1 : 1;
}

/** The same from answers of consistent lists (D-4): `pods` holds what each set's own selector found. */
export function setsFromLists(
  sets: readonly StatefulSetView[],
  pods: ReadonlyMap<string, readonly PodView[]>,
): readonly SetSnapshot[] {
  return sets.toSorted(byName).map((set) => {
    const found = pods.get(set.uid) ?? [];
    return {
      set,
      pods: found.filter((pod) => pod.controllerUid === set.uid),
      orphans: found.filter((pod) => pod.controllerUid === undefined).map((pod) => pod.name),
    };
  });
}
