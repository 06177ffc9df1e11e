import type { Because } from '#base/because.ts';
import type { Parsed } from '#base/parsed.ts';
import type { Instant } from '#base/units.ts';
import type { ObjectRef, Requeue } from '#control/decision.ts';
import type { SetSnapshot } from '#control/group-sets.ts';
import type { Reason } from '#control/reasons.ts';
import type { OpenScale } from '#control/scale-writes.ts';
import type { StatefulSetView } from '#statefulset/view.ts';

import type { DelayedDownscaleVerdict } from './delayed-downscale-snapshot.ts';

/** What is known of a resource whose replicas are mirrored. */
export type ReferenceState =
  | {
      readonly kind: 'known';
      readonly ref: ObjectRef;
      /** `spec.replicas` of its scale. */
      readonly wanted: number;
      /** `status.replicas` of its scale. */
      readonly reported: number;
      /** Sets of other groups that mirror it, too. */
      readonly others: readonly StatefulSetView[];
      /** Whether our Role may not write its status (KW-29). */
      readonly isWriteBackForbidden: boolean;
    }
  /** The server has no such kind, or more than one. */
  | { readonly kind: 'unresolved'; readonly message: string }
  /** Its scale cannot be read; nothing is ever scaled on a guess (SCAL-1). `until`: when it is tried again. */
  | { readonly kind: 'unreadable'; readonly message: string; readonly until?: Instant };

/** When sets were last scaled down: what the annotations say, and in zone-tracker mode also the ConfigMap (D-23). */
export type ZoneTracker =
  | { readonly kind: 'off' }
  /** Nothing was asked of the ConfigMap yet; it is once a set wants to shrink. */
  | { readonly kind: 'unread' }
  | { readonly kind: 'unreadable'; readonly message: string; readonly until?: Instant }
  /** By name of the set; never scaled down when absent. */
  | { readonly kind: 'read'; readonly times: ReadonlyMap<string, Parsed<Instant>> };

/** Delayed down-scale, as far as one plan may ask. Pure: what it answers is part of the snapshot. */
export interface Delays {
  /** Asked once of each set whose reference is known, also where `wanted` is its count (D-22). */
  verdict(
    set: SetSnapshot,
    wanted: number,
  ): { readonly verdict: DelayedDownscaleVerdict; readonly requeue: Requeue };
}

/** A write that must not be repeated before `until`: it was refused, or somebody undoes it again and again. */
export interface Pace {
  /** The count that was to be written. */
  readonly to: number;
  readonly until: Instant;
  readonly because: Because<Reason>;
}

/** All that one decision about the replicas of a group needs to know; immutable. */
export interface CoordinationSnapshot {
  /** Sorted by name, byte order (RC-21). */
  readonly sets: readonly SetSnapshot[];
  /** uids of pods whose deletion was sent and is not yet seen, or has no answer (D-7). */
  readonly leaving: ReadonlySet<string>;
  /** By {@link referenceId}; every valid reference of the sets is in it. */
  readonly references: ReadonlyMap<string, ReferenceState>;
  readonly zoneTracker: ZoneTracker;
  readonly delays: Delays;
  /** By uid of the set. */
  readonly paces: ReadonlyMap<string, Pace>;
  /** Requests without an answer that lower the replicas of a set, by its name. */
  readonly unanswered: ReadonlyMap<string, OpenScale>;
}
