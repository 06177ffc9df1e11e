import type { Parsed } from '#base/parsed.ts';
import type { Millis, Monotonic } from '#base/units.ts';
import type { CheckAnswer, QuestionKey } from '#check/answer.ts';
import type { KnownSince } from '#check/check-state.ts';
import type { SetHold } from '#control/plan/set-holds.ts';
import type { PodView, StatefulSetView, Watched } from '#statefulset/view.ts';
import type { PhasedRolloutSpec } from './api.ts';
import type { BecauseUnaskable, RememberedCheck } from './plan/plan-decision.ts';
import type { RolloutStatus } from './status.ts';

/** All that one decision about a PhasedRollout needs to know; immutable, and of one instant. */
export interface PhasedSnapshot {
  readonly resource: StoredRollout;
  /** The set that `spec.targetRef` names; undefined where there is none. */
  readonly target: TargetSet | undefined;
  /** Other sets of the namespace whose annotation still names this resource. */
  readonly former: readonly TargetSet[];
  /** Those of the other PhasedRollouts of the namespace that the annotation of `target` may name. */
  readonly others: readonly OtherRollout[];
  /** What else would move the same set, such as `ZoneAwareUpdate a`; no controller moves it then (D-63). */
  readonly conflicts: readonly string[];
  readonly holds: readonly DisruptionHold[];
  /** Whether a disruption budget governs the pod that goes next, so that each is asked for by itself. */
  readonly isGoverned: boolean;
  /** The partition before a request of ours lifted the gate of the set, as a user wanted, and does not any more. */
  readonly takenBack?: number;
  readonly gate: GateSight;
  /** uids of pods with a deletion that was sent and is not yet seen, or has no answer (D-7). */
  readonly leaving: ReadonlySet<string>;
  /** How long a pod is not ready without a break before that alone makes it stuck; undefined: never. */
  readonly stuckAfter: Millis | undefined;
  /** What this process has seen of the pods itself. */
  readonly watched: Watched;
}

/** A PhasedRollout as it is stored. */
export interface StoredRollout {
  readonly name: string;
  readonly isDeleting: boolean;
  readonly hasFinalizer: boolean;
  readonly spec: Parsed<PhasedRolloutSpec>;
  readonly status: RolloutStatus;
}

/** A StatefulSet as a PhasedRollout sees it. */
export interface TargetSet {
  readonly set: StatefulSetView;
  /** Pods whose controlling owner is this set; in no order. */
  readonly pods: readonly PodView[];
  /** Which PhasedRollout its annotation names; undefined without one. */
  readonly owner: string | undefined;
}

/** Another PhasedRollout, as far as ownership asks. */
export interface OtherRollout {
  readonly name: string;
  readonly targetRef: string;
}

/** Why nothing may be disrupted now. */
export interface DisruptionHold extends SetHold {
  /**
   * `view`: nothing at all may go, as with a predecessor whose requests may still arrive, or a view that is not fresh.
   * `budget`: only what a user lifted the gate of may.
   */
  readonly kind: 'view' | 'budget';
}

/** How far this process has come with asking. */
export interface GateSight {
  /** The time of the snapshot on the clock that does not step. */
  readonly steady: Monotonic;
  /** Since when the process knows the times of the state that `gateStateOf` returns. */
  readonly known: KnownSince;
  /** Names what is asked now, and where. */
  readonly questionId: string;
  /** Why it cannot be asked: its URL, its credentials. */
  readonly problem?: BecauseUnaskable;
  /** What has been asked, and is not answered. */
  readonly asked?: QuestionKey;
  readonly answer?: CheckAnswer;
  /** What the last plan of this process came to: errors are stored nowhere else. */
  readonly memory?: RememberedCheck;
}
