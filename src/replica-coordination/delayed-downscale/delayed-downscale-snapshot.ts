import type { Because } from '#base/because.ts';
import type { Parsed } from '#base/parsed.ts';
import type { Instant, Millis, Monotonic } from '#base/units.ts';
import type { Requeue } from '#control/decision/decision.ts';
import type { Reason } from '#control/decision/reasons.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { DelayedDownscale } from './delayed-downscale.ts';

/** The pod in one slot, as the cache shows it. */
export interface SlotPod {
  readonly uid: string;
  /** A pod that becomes ready is called again at once, whatever its backoff. */
  readonly isReady: boolean;
}

/** What is known of the pod in one slot; only a cache, the truth is with the pod (DD-1). */
export interface PodPreparation {
  /** The call under way or waiting for its turn; the pod gets no other one until it has ended. */
  readonly calling: 'POST' | 'DELETE' | undefined;
  readonly state: PreparationState;
}

/** How the last call of a pod ended. */
export type PreparationState =
  /** Nothing is known, so that there may be something to cancel (D-22). */
  | { readonly kind: 'unknown' }
  /** The pod of `uid` said that it has been prepared since `since`. */
  | {
      readonly kind: 'prepared';
      readonly uid: string;
      readonly since: Instant;
      /** When the last answer came. */
      readonly answeredAt: Monotonic;
      /** How long the pod had been prepared by then; a time to come is now. */
      readonly elapsedThen: Millis;
    }
  /** The pod answered a DELETE with 2xx or 409. */
  | {
      readonly kind: 'cancelled';
      /** When to cancel once more, as an unanswered POST may still have been on its way; undefined: never. */
      readonly repeatAt: Monotonic | undefined;
    }
  /** The call failed; `why` is a clause such as `answered 500`. */
  | {
      readonly kind: 'failed';
      readonly method: 'POST' | 'DELETE';
      readonly uid: string;
      readonly wasReady: boolean;
      readonly why: string;
      /** Failures one after the other, >= 1. */
      readonly attempts: number;
      readonly retryAt: Monotonic;
    };

/** What one decision about the delayed scaling of a set needs to know. */
export interface DelayedDownscaleSnapshot {
  readonly set: StatefulSetView;
  /** What the set's replicas should become, after force and reference; never a guess: calls to pods follow from it. */
  readonly wanted: number;
  readonly settings: Parsed<DelayedDownscale | undefined>;
  /** Pods that exist, by ordinal. */
  readonly pods: ReadonlyMap<number, SlotPod>;
  /** Keyed by ordinal; what is missing is unknown. See `Preparations`. */
  readonly preparations: ReadonlyMap<number, PodPreparation>;
  /** When the snapshot was taken, on the clock that the preparations were dated by. */
  readonly takenAt: Monotonic;
}

/** A call that a plan wants made. */
export interface PlannedPodCall {
  readonly method: 'POST' | 'DELETE';
  readonly ordinal: number;
  readonly pod: SlotPod;
}

/** Whether the set may be scaled now, and how far. */
export type DelayedDownscaleVerdict =
  /** The wanted count is the current one. */
  | { readonly kind: 'settled' }
  | {
      readonly kind: 'scale';
      /** Between the wanted and the current count, both included; never the current one. */
      readonly to: number;
      /** When the oldest answer that this rests on came; undefined where it rests on none (upscale, or no delay). */
      readonly provenAt: Monotonic | undefined;
      /** Undefined where the delay has no say: the caller's own reason holds. */
      readonly because: Because<Reason> | undefined;
    }
  /** Not now; `until` when time alone may end it. */
  | { readonly kind: 'hold'; readonly until?: Instant; readonly because: Because<Reason> };

/** What to do about the delayed scaling of one set. */
export interface DelayedDownscalePlan {
  /** To be made side by side, in this order; those that cancel come first (DD-22). */
  readonly calls: readonly PlannedPodCall[];
  readonly verdict: DelayedDownscaleVerdict;
  /** When to look again although nothing changes; the end of calls wakes the key by itself. */
  readonly requeue: Requeue;
}
