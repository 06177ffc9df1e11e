import type { Instant } from '#base/units.ts';

/** Where a rollout stands, by the words of its status. */
export type NewsPhase =
  | 'Pending'
  | 'CreatingStatefulSet'
  | 'UpdatingStatefulSet'
  | 'RollingOut'
  | 'WaitingForReady'
  | 'WaitingForServiceDiscovery'
  | 'Paused'
  | 'CallingBack'
  | 'RolloutDone'
  | 'RolloutFailed'
  | 'Deleting';

/** What is reported of a rollout in one message. Texts are as the cluster has them; empty where there is none. */
export interface RolloutNews {
  readonly cluster: string;
  readonly namespace: string;
  /** Name of the set. */
  readonly set: string;
  readonly version: string;
  readonly branch: string;
  readonly commit: string;
  /** Wanted share of the pods, 0 to 100. */
  readonly percent: number;
  /** Pods that the set is to have. */
  readonly replicas: number;
  /** Pods of the target that run the new version and are healthy. */
  readonly updated: number;
  /** Pods that the percentage makes. */
  readonly target: number;
  /** Pods that are ready, of whatever version. */
  readonly ready: number;
  /** Of these, those that service discovery knows; undefined where it is not asked. */
  readonly sdReady: number | undefined;
  /** Pods that may be away at once; undefined where that is not known. */
  readonly parallel: number | undefined;
  readonly phase: NewsPhase;
  /** @default the usual words for the phase */
  readonly phaseWord?: string;
  /** A code, a colon and a sentence. */
  readonly reason: string;
  /** Pods that cannot become ready; the first five are shown. */
  readonly failing: readonly FailingPod[];
  /** Pods on the new version that the rollout has not reached. */
  readonly leakedReplicas: number;
  readonly identity: string;
  readonly stageId: string;
  readonly startedAt: Instant | undefined;
  /** When all this was seen; another time alone is not new. */
  readonly updatedAt: Instant;
}

/** A pod that cannot become ready. */
export interface FailingPod {
  readonly name: string;
  /** What keeps it. */
  readonly message: string;
}

/** What is reported of one pod of the target. */
export interface PodNews {
  readonly name: string;
  /** Pods go from the highest to the lowest. */
  readonly ordinal: number;
  /** Empty where there is no pod. */
  readonly version: string;
  /** Whether it runs the new version. */
  readonly isUpdated: boolean;
  readonly isReady: boolean;
  /** Whether service discovery knows it; undefined where it is not asked. */
  readonly isDiscovered: boolean | undefined;
  /** Whether the rollout has let it go. */
  readonly isRotated: boolean;
  /** Whether it is on the new version though the rollout has not reached it. */
  readonly isLeaked: boolean;
  /** What keeps it from being ready; empty where nothing is known. */
  readonly message: string;
}
