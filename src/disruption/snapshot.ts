import type { PodView, StatefulSetView, Watched } from '#statefulset/view.ts';

/** A set under a budget, and the pods that it may own. */
export interface GovernedSet {
  readonly set: StatefulSetView;
  /** Pods that its uid controls; others in the list are passed over. Undefined: they could not be read. */
  readonly pods: readonly PodView[] | undefined;
}

/** A pod under a budget whose set was deleted. */
export interface LeftPod {
  readonly pod: PodView;
  /** The name of that set; undefined where it is not known, and so neither is the zone. */
  readonly set: string | undefined;
}

/** What the cluster looks like under one budget, all of one instant (D-49). */
export interface DisruptionSnapshot {
  /**
   * The sets that the budget's selector matches, in the order in which zones are named; for a budget that selects pods,
   * the sets that control these. Undefined: they could not be read.
   */
  readonly sets: readonly GovernedSet[] | undefined;
  /** Pods under the budget that nothing controls (ZDB-7): each counts in its zone. @default none */
  readonly unmanaged?: readonly PodView[];
  /** Pods of sets that were deleted: their zones count as disturbed until a set adopts them. @default none */
  readonly left?: readonly LeftPod[];
  /** uids of pods with a deletion that was sent, and is not seen yet (D-7). */
  readonly leaving: ReadonlySet<string>;
  /** What this process has seen of pods; without it only the times count that pods carry. */
  readonly watched?: Watched;
}
