import type { Budgets } from '#disruption/verdict.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';

/** One StatefulSet of a group with the pods that it controls. */
export interface SetSnapshot {
  readonly set: StatefulSetView;
  /** Pods whose controlling owner is this set, by uid; in no order. */
  readonly pods: readonly PodView[];
  /** Names of pods that have the name of a slot of this set, but no controlling owner. */
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
