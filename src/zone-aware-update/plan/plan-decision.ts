import type { Because } from '#base/because.ts';
import type { QuestionKey } from '#check/answer.ts';
import type { PodDeletion, Requeue, RevisionPromotion } from '#control/decision/decision.ts';
import type { SetHeldReason, UnfitReason } from '#control/plan/set-holds.ts';
import type { GateKind } from '../snapshot.ts';
import type { UpdateStatus } from '../status.ts';

/** Why a plan does something, or does not. */
export type UpdateReason =
  | SetHeldReason
  | UnfitReason
  | 'AwaitingPods'
  | 'ZonesNotReady'
  | 'ZoneUnknown'
  | 'StepOfNoPod'
  | 'AlarmDue'
  | 'AwaitingAlarm'
  | 'AlarmRings'
  | 'AlarmUnknown'
  | 'QueryDue'
  | 'AwaitingQuery'
  | 'QueryFails'
  | 'QueryUnknown'
  | 'DryRun'
  | 'PodOutdated'
  | 'StuckPodReplaced'
  | 'SetUpdated'
  | 'Updated';

type BecauseUpdate = Because<UpdateReason>;

/** One thing that a plan does, or why it does not. */
export type UpdateDecision =
  | PodDeletion<UpdateReason>
  | RevisionPromotion<UpdateReason>
  | {
      readonly kind: 'ask';
      readonly gate: GateKind;
      readonly question: QuestionKey;
      readonly because: BecauseUpdate;
    }
  | { readonly kind: 'hold'; readonly because: BecauseUpdate };

/** What the planner returns. */
export interface UpdatePlan {
  readonly decisions: readonly UpdateDecision[];
  /**
   * As it is to be stored once the decisions were carried out, where so many pods were really deleted: a step counts once, and
   * not where none was.
   */
  readonly statusAfter: (deleted: number) => UpdateStatus;
  /** The condition `Progressing`. */
  readonly progressing: { readonly status: 'True' | 'False'; readonly because: BecauseUpdate };
  readonly requeue: Requeue;
}
