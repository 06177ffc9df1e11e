import { type Budgets, unbudgeted } from '#disruption/verdict.ts';
import type { Lister } from '#kubernetes/informer.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { groupOf, unbuiltCapabilityOf } from './api.ts';

/** One StatefulSet of a group with the pods that it controls. */
export interface SetSnapshot {
  readonly set: StatefulSetView;
  /** Pods whose controlling owner is this set, by uid; in no order. */
  readonly pods: readonly PodView[];
  /** Names of pods of the namespace that have no controlling owner. */
  readonly orphans: readonly string[];
}

/** All that one decision about a group needs to know; immutable. */
export interface GroupSnapshot {
  readonly namespace: string;
  readonly group: string;
  /** Sorted by name, byte order (RC-21). */
  readonly sets: readonly SetSnapshot[];
  /** uids of pods whose deletion was sent and is not yet seen, or has no answer (D-7). */
  readonly leaving: ReadonlySet<string>;
  readonly budgets: Budgets;
  /** Why the group may not be rolled by this version at all (D-13); undefined when it may. */
  readonly unbuilt: string | undefined;
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

/** The queue key of a group: `namespace/group`; the group may be empty. */
export function groupKey(namespace: string, group: string): string {
  return `${namespace}/${group}`;
}

/** The namespace and the group of a queue key. */
export function parseGroupKey(key: string): { readonly namespace: string; readonly group: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), group: key.slice(slash + 1) };
}

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
    orphans: listers.pods.by(indexes.orphan, set.namespace).map((pod) => pod.name),
  }));
}

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

/**
 * Why the group may not be rolled by this version (D-13): a set that asks for what is not built, or a budget of a
 * kind that is not built. Undefined when it may.
 *
 * @param budget what is known of budgets over the group, such as the name of one that matches
 */
export function unbuiltOf(
  sets: readonly SetSnapshot[],
  budget: string | undefined,
): string | undefined {
  for (const { set } of sets) {
    const capability = unbuiltCapabilityOf(set);
    if (capability.kind === 'invalid') {
      const { path, message } = capability.problem;
      return `StatefulSet "${set.name}": ${path} ${message}; the group is not rolled without it`;
    }
  }
  return budget;
}

/** The snapshot of a group outside of tests: nothing but listed capabilities governs it. */
export function snapshotOf(
  key: string,
  sets: readonly SetSnapshot[],
  rest: { readonly leaving: ReadonlySet<string>; readonly unbuilt: string | undefined },
): GroupSnapshot {
  return { ...parseGroupKey(key), sets, ...rest, budgets: unbudgeted };
}
