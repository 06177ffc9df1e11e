import type { Because } from '#base/because.ts';
import type { Instant } from '#base/units.ts';
import type { QuestionKey } from '#check/answer.ts';
import type { CheckState } from '#check/check-state.ts';
import type { PodRef, Requeue, SetRef } from '#control/decision/decision.ts';
import type { SetHeldReason, UnfitReason } from '#control/plan/set-holds.ts';
import type { WantedCondition } from '#kubernetes/custom-resource/conditions.ts';
import type { RolloutStatus } from '../status.ts';

/** Why a plan does something, or does not. */
export type PhasedReason =
  | SetHeldReason
  | UnfitReason
  | 'FinalizerMissing'
  | 'Released'
  | 'Adopted'
  | 'UpdatesBlocked'
  | 'RevisionChanged'
  | 'RolloutResumed'
  | 'SetShrunk'
  | 'CheckPassed'
  | 'RevisionReverted'
  | 'StuckPodReplaced'
  | 'StuckPodKept'
  | 'WriteContested'
  | 'PartitionContested'
  | 'RollingBack'
  | 'RolledBack'
  | 'WithinStep'
  | 'GateBypassed'
  | 'DryRun'
  | 'CheckDue'
  | 'AwaitingPromotion'
  | 'AwaitingPod'
  | 'AwaitingAvailability'
  | 'InitialDelay'
  | 'AwaitingCheck'
  | 'CheckFailed'
  // Events, as the peer names them.
  | 'RolloutStarted'
  | 'RolloutCompleted'
  | 'Suspended'
  | 'SuspensionTakenBack'
  | 'CannotManage'
  | 'PrometheusConfigError';

/** Why a question cannot be asked. */
export type BecauseUnaskable = Because<'PrometheusConfigError'>;

type BecausePhased = Because<PhasedReason>;

/** One thing that a plan does, or why it does not. */
export type PhasedDecision =
  | {
      readonly kind: 'add-finalizer' | 'remove-finalizer';
      readonly because: BecausePhased;
    }
  /** The annotation of the set is to name this resource; `revision` is the resourceVersion that was decided on, here and below. */
  | {
      readonly kind: 'adopt';
      readonly set: SetRef;
      readonly revision: string;
      /** What its partition becomes by the same write; absent: it stays. */
      readonly partition?: number;
      readonly because: BecausePhased;
    }
  /** The annotation goes, and what blocks updates with it. */
  | {
      readonly kind: 'release';
      readonly set: SetRef;
      readonly revision: string;
      /** What is taken out of `spec.updateStrategy`. */
      readonly drops: 'nothing' | 'partition' | 'rolling-update';
      readonly because: BecausePhased;
    }
  | {
      readonly kind: 'set-partition';
      readonly set: SetRef;
      readonly revision: string;
      readonly from: number;
      readonly to: number;
      readonly because: BecausePhased;
    }
  | {
      readonly kind: 'delete-pod';
      readonly set: SetRef;
      readonly pod: PodRef;
      readonly because: BecausePhased;
    }
  | { readonly kind: 'ask'; readonly question: QuestionKey; readonly because: BecausePhased }
  /** A Kubernetes Event on the resource. */
  | {
      readonly kind: 'tell';
      readonly type: 'Normal' | 'Warning';
      readonly because: BecausePhased;
    }
  /** Nothing more is done; `until` when time alone ends it. */
  | { readonly kind: 'hold'; readonly until?: Instant; readonly because: BecausePhased };

/** How far a check has come, as one process remembers it. */
export interface RememberedCheck extends CheckState {
  /** Why the last answer was none that passes: a clause, which stays the same while the cause does. */
  readonly failing?: string;
}

/** What the planner returns. */
export interface PhasedPlan {
  readonly decisions: readonly PhasedDecision[];
  /** As it is to be stored, after the decisions were carried out. */
  readonly status: RolloutStatus;
  /** Those that are set in this pass; others stay as they are. */
  readonly conditions: { readonly Ready?: WantedCondition; readonly Updated?: WantedCondition };
  readonly requeue: Requeue;
  /** What the process is to remember of the check for its next snapshot. */
  readonly memory: RememberedCheck | undefined;
  /** Whether the answer of the snapshot may be dropped once the status is stored: it is counted, or never will be. */
  readonly isAnswerDone: boolean;
}
