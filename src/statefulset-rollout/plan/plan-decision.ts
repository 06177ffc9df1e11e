import type { Because } from '#base/because.ts';
import type { PodRef, Requeue, SetRef } from '#control/decision/decision.ts';
import type { SetHeldReason } from '#control/plan/set-holds.ts';
import type { RolloutProgress } from '../progress.ts';
import type { WantedScale } from '../snapshot.ts';

/** Why service discovery does not say how the pods are. */
export type DiscoveryTrouble =
  | 'ConsulUnavailable'
  | 'ConsulPermissionDenied'
  | 'ConsulUnknownDatacenter';

/** Why a plan does something, or does not. */
export type RolloutReason =
  | SetHeldReason
  // What is wrong with the resource, or with what it wants.
  | 'InvalidSpec'
  | 'InvalidStatefulSet'
  | 'NamespaceMismatch'
  | 'StatefulSetOwnedByOther'
  | 'ConflictingOwners'
  | 'ImmutableFieldChanged'
  | 'SetTooLarge'
  | 'RevisionUnusable'
  | 'ProgressDeadlineExceeded'
  | 'RolloutTimeout'
  // What is being done.
  | 'FinalizerMissing'
  | 'RolloutStarted'
  | 'RolloutResumed'
  | 'StatefulSetCreated'
  | 'StatefulSetUpdated'
  | 'StatefulSetScaled'
  | 'StatefulSetRecreated'
  | 'StatefulSetDeleted'
  | 'StatefulSetReleased'
  | 'StatefulSetDisowned'
  | 'PodsEvicted'
  | 'StuckPodReplaced'
  | 'BrokenPodDeleted'
  | 'PinSwitchedOn'
  | 'PinSwitchedOff'
  | 'PartitionLowered'
  | 'PartitionRaised'
  | 'PodsTakenBack'
  // What is waited for.
  | 'AwaitingComparison'
  | 'AwaitingValidation'
  | 'AwaitingController'
  | 'AwaitingDeletion'
  | 'AwaitingPods'
  | 'AwaitingServiceDiscovery'
  | 'AwaitingInterval'
  | 'AwaitingCurrentRevision'
  | 'AwaitingBudgetStatus'
  | 'PDBBlocked'
  | 'ApiThrottled'
  | 'EvictionForbidden'
  | 'MultipleBudgets'
  | DiscoveryTrouble
  | 'RolloutPaused'
  // How the outcome is reported.
  | 'CallingBack'
  | 'AwaitingCallback'
  | 'CallbackFailed'
  | 'CallbackSuperseded'
  | 'NotificationFailed'
  // How it ended.
  | 'PercentBelowActual'
  | 'PinUnavailable'
  | 'RolloutDone'
  | 'RolloutFailed'
  // What became of the set since.
  | 'SetNotFound';

export type BecauseRollout = Because<RolloutReason>;

/** One thing that a plan does; at most one a pass touches the set or its pods. */
export type RolloutAction =
  | { readonly kind: 'add-finalizer' }
  | { readonly kind: 'remove-finalizer' }
  /** One attempt to say how it ended. */
  | { readonly kind: 'call-back' }
  /** The set is compared with what is wanted. */
  | { readonly kind: 'compare' }
  /** The API server is asked whether it would take what is wanted. */
  | { readonly kind: 'validate' }
  | { readonly kind: 'create-set' }
  /** The set becomes as it is wanted, where it still is as it was compared. */
  | { readonly kind: 'update-set'; readonly set: SetRef; readonly revision: string }
  /** The set gets another number of pods, and nothing else, where it still is as it was seen. */
  | {
      readonly kind: 'scale-set';
      readonly set: SetRef;
      readonly revision: string;
      readonly scale: WantedScale;
    }
  /** Which pods the set keeps on its current revision, and nothing else of it, where it still is as it was seen. */
  | {
      readonly kind: 'set-partition';
      readonly set: SetRef;
      readonly revision: string;
      /** So many, the lowest; undefined: none, and the strategy is OnDelete. */
      readonly to: number | undefined;
      /** Whether more pods may go by it. */
      readonly isLowering: boolean;
    }
  /** The set goes, and its pods stay, to be recreated over them. */
  | { readonly kind: 'orphan-pods'; readonly set: SetRef }
  | { readonly kind: 'delete-set'; readonly set: SetRef }
  /** The set is owned by its marks alone, so that no garbage collector takes it along. */
  | { readonly kind: 'disown-set'; readonly set: SetRef; readonly revision: string }
  /** Our marks go, and all else stays. */
  | { readonly kind: 'release-set'; readonly set: SetRef; readonly revision: string }
  | { readonly kind: 'evict'; readonly set: SetRef; readonly pods: readonly PodRef[] }
  /** Broken pods of the version that is given up: a budget that they exceed themselves would keep them. */
  | { readonly kind: 'delete-pods'; readonly set: SetRef; readonly pods: readonly PodRef[] };

/** What the planner returns. */
export interface RolloutPlan {
  readonly action: RolloutAction | undefined;
  /** What it does, or waits for; nothing where it has ended. */
  readonly because: BecauseRollout | undefined;
  /** As it is stored: before pods go, so that no other process lets them go again; after all other actions. */
  readonly progress: RolloutProgress;
  readonly requeue: Requeue;
}

/** Reports whether pods may go by `action`: what it rests on must be proven. */
export function isDisruptive(action: RolloutAction | undefined): boolean {
  switch (action?.kind) {
    case 'evict':
    case 'delete-pods':
      return true;
    case 'set-partition':
      return action.isLowering;
    default:
      return false;
  }
}

/** Reports whether `action` lowers a partition, so that the StatefulSet controller takes pods, and no webhook is asked for these. */
export function isLowering(action: RolloutAction | undefined): boolean {
  return action?.kind === 'set-partition' && action.isLowering;
}
