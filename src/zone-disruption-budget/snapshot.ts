import type { DisruptionSnapshot } from '#disruption/snapshot.ts';
import { labelsOf } from '#statefulset/pod-labels.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { type PodSelector, selects } from './spec/selector.ts';

/** All pods and StatefulSets of the namespace of a budget, of one instant. */
export interface NamespaceView {
  readonly pods: readonly PodView[];
  readonly sets: readonly StatefulSetView[];
}

/** What a budget governs. */
export interface GovernedPods {
  /** Without sets where something else than a StatefulSet that is seen controls a pod: then it is unknown how many pods there should be (ZDB-7). */
  readonly snapshot: DisruptionSnapshot;
  /** Those pods, by name. */
  readonly strangers: readonly string[];
}

/** What we take away ourselves has a reservation in the ledger, and needs no second mention. */
const nothingLeaving: ReadonlySet<string> = new Set();

/**
 * Returns what `selector` governs: the sets that control a pod it selects, and those that would make one. All pods of such
 * a set count, as one whose labels are older is not missing; and a set of which every pod is gone is one that has lost
 * them (W-04).
 */
export function governedPods(selector: PodSelector, { pods, sets }: NamespaceView): GovernedPods {
  const selected = pods.filter((pod) => selects(selector, labelsOf(pod)));
  const known = new Set(sets.map(({ uid }) => uid));
  const controllers = new Set(selected.map(({ controllerUid }) => controllerUid));
  const governed = sets.filter((set) => controllers.has(set.uid) || makesSelected(selector, set));
  const byController = Map.groupBy(pods, ({ controllerUid }) => controllerUid);
  const strangers = selected.filter(
    ({ controllerUid }) => controllerUid !== undefined && !known.has(controllerUid),
  );
  const unmanaged = selected.filter(({ controllerUid }) => controllerUid === undefined);
  const ofSets = governed
    .toSorted((one, other) => compare(one.name, other.name))
    .map((set) => ({ set, pods: byController.get(set.uid) ?? [] }));
  return {
    snapshot: {
      sets: strangers.length > 0 ? undefined : ofSets,
      unmanaged,
      leaving: nothingLeaving,
    },
    strangers: strangers.map(({ name }) => name).toSorted(compare),
  };
}

function makesSelected(selector: PodSelector, { isDeleting, spec }: StatefulSetView): boolean {
  return !isDeleting && selects(selector, spec.templateLabels);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
