import type { Lister } from '#kubernetes/informer/informer.ts';
import { GROUP_LABEL, groupKey, groupKeyOf, parseGroupKey } from '#statefulset/group.ts';
import { parseOrdinal } from '#statefulset/parse-ordinal.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';

/** One StatefulSet of a group with the pods that it controls. */
export interface SetSnapshot {
  readonly set: StatefulSetView;
  /** Pods whose controlling owner is this set, by uid; in no order. */
  readonly pods: readonly PodView[];
  /** Names of pods without a controlling owner that a slot of the set could have. */
  readonly orphans: readonly string[];
}

/** Names of the indexes that {@link readSets} asks for. */
export const indexes = Object.freeze({
  /** StatefulSets by group key. */
  group: 'group',
  /** StatefulSets by uid. */
  uid: 'uid',
  /** StatefulSets by namespace. */
  namespace: 'namespace',
  /** Pods by the uid of their controlling owner. */
  controller: 'controller',
  /** Pods without a controlling owner, by namespace. */
  orphan: 'orphan',
});

/** The indexers behind {@link indexes} of StatefulSets. */
export const statefulSetIndexers = Object.freeze({
  [indexes.group]: (set: StatefulSetView): readonly string[] => {
    const key = groupKeyOf(set);
    return key === undefined ? [] : [key];
  },
  [indexes.uid]: (set: StatefulSetView): readonly string[] => [set.uid],
  [indexes.namespace]: (set: StatefulSetView): readonly string[] => [set.namespace],
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

/** Sets that are looked at together: those of a namespace that have certain labels of their own. */
export interface SetScope {
  readonly namespace: string;
  /** Empty: all of the namespace. */
  readonly matchLabels: ReadonlyMap<string, string>;
  /** Only the one of this name. */
  readonly name?: string;
}

/** Returns the sets of the group `key`. */
export function groupScope(key: string): SetScope {
  const { namespace, group } = parseGroupKey(key);
  return { namespace, matchLabels: new Map([[GROUP_LABEL, group]]) };
}

/** Returns the labels of `scope` as the API selects by them; one text for one scope. */
export function selectorOf({ matchLabels }: SetScope): string {
  return [...matchLabels]
    .map(([name, value]) => `${name}=${value}`)
    .toSorted()
    .join(',');
}

/** Reports whether `set` is one of `scope`. */
export function isInScope(scope: SetScope, set: StatefulSetView): boolean {
  const { namespace, matchLabels, name = set.name } = scope;
  if (set.namespace !== namespace || set.name !== name) return false;
  for (const [name, value] of matchLabels) if (set.labels[name] !== value) return false;
  return true;
}

/** Returns the sets of `scope` with their pods, from the caches, sorted; empty when there are none. */
export function readSets(scope: SetScope, listers: GroupListers): readonly SetSnapshot[] {
  return setsIn(scope, listers.statefulSets).map((set) => ({
    set,
    pods: listers.pods.by(indexes.controller, set.uid),
    orphans: orphansOf(set, listers.pods.by(indexes.orphan, set.namespace)),
  }));
}

function setsIn(scope: SetScope, lister: Lister<StatefulSetView>): readonly StatefulSetView[] {
  return namedBy(scope, lister)
    .filter((set) => isInScope(scope, set))
    .toSorted(byName);
}

/** Returns those of which some may be in `scope`, found by what narrows it most. */
function namedBy(
  { namespace, matchLabels, name }: SetScope,
  lister: Lister<StatefulSetView>,
): readonly StatefulSetView[] {
  if (name !== undefined) {
    const set = lister.get(namespace, name);
    return set === undefined ? [] : [set];
  }
  const group = matchLabels.get(GROUP_LABEL);
  return group === undefined
    ? lister.by(indexes.namespace, namespace)
    : lister.by(indexes.group, groupKey(namespace, group));
}

/** Names of `pods` that a slot of `set` could have; the same list where there are none, as snapshots are compared. */
function orphansOf({ name: set }: StatefulSetView, pods: readonly PodView[]): readonly string[] {
  const names = pods
    .map(({ name }) => name)
    .filter((name) => parseOrdinal(name, set) !== undefined);
  return names.length === 0 ? none : names;
}

const none: readonly string[] = Object.freeze([]);

/** Orders sets by name, byte by byte (RC-21). */
export function byName(left: StatefulSetView, right: StatefulSetView): number {
  return left.name < right.name ? -1 : 1;
}
