import type { Because } from '#base/because.ts';
import type { Parsed } from '#base/parsed.ts';
import type { Instant, Millis, Monotonic } from '#base/units.ts';
import type { ObjectRef } from '#control/decision/decision.ts';
import type { Reason } from '#control/decision/reasons.ts';
import type { Conflicts } from '#control/plan/group-moment.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import type { OpenScale } from '#control/write/scale-writes.ts';
import type { StatefulSetView, Watched } from '#statefulset/view.ts';
import type { PodPreparation } from './delayed-downscale/delayed-downscale-snapshot.ts';
import type { NoteState } from './delayed-downscale/preparation-notes.ts';

/** A write that must not be repeated before `until`: it was refused, or another client undoes it again and again. */
export interface Pace {
  /** The count that was to be written. */
  readonly to: number;
  readonly until: Monotonic;
  readonly because: Because<Reason>;
}

/** What is known of a resource whose replicas are mirrored; `lookAgainAt`: when it is read again although no watch asks. */
export type ReferenceState =
  | {
      readonly kind: 'known';
      readonly ref: ObjectRef;
      /** `spec.replicas` of its scale. */
      readonly wanted: number;
      /** `status.replicas` of its scale. */
      readonly reported: number;
      /** Whether its watch shows a newer spec than the one that was read. */
      readonly hasChanged: boolean;
      /** Sets of other groups that mirror it, too. */
      readonly others: readonly StatefulSetView[];
      /** Whether our Role may not write its status (KW-29). */
      readonly isWriteBackForbidden: boolean;
      /** What may not be reported again yet; undefined: anything may. */
      readonly pace?: Pace;
      readonly lookAgainAt?: Monotonic;
    }
  /** The server has no such kind, or more than one. */
  | {
      readonly kind: 'unresolved';
      readonly message: string;
      readonly lookAgainAt?: Monotonic;
    }
  /** Its scale cannot be read; nothing is ever scaled on a guess (SCAL-1). */
  | {
      readonly kind: 'unreadable';
      readonly message: string;
      /** Whether the server has no such object. */
      readonly isAbsent?: boolean;
      readonly lookAgainAt?: Monotonic;
    };

/** When sets were last scaled down: what the annotations say, and in zone-tracker mode also the ConfigMap (D-23). */
export type ZoneTrackerReading =
  | { readonly kind: 'off' }
  /** It was not read for this pass, or too long ago; it is once a set wants to shrink. */
  | { readonly kind: 'unread' }
  | { readonly kind: 'unreadable'; readonly message: string; readonly lookAgainAt?: Monotonic }
  /** By name of the set; never scaled down when absent. */
  | { readonly kind: 'read'; readonly times: ReadonlyMap<string, Parsed<Instant>> };

/** What the pods of one set said; only a cache, the truth is with the pods (DD-1). */
export interface Preparations {
  /** The set's URL when they were called; what they said at another one counts for nothing. */
  readonly url: string;
  /** Keyed by ordinal; what is missing is unknown. */
  readonly slots: ReadonlyMap<number, PodPreparation>;
}

/** A time that a user stored, and when this process first saw it (D-55). */
export interface SeenTime {
  readonly at: Instant;
  readonly since: Monotonic;
  /** How long ago it was by the wall clock when this process first saw it; a time to come was then. */
  readonly elapsedThen: Millis;
}

/** All that one decision about the replicas of a group needs to know: plain immutable data, nothing that acts. */
export interface CoordinationSnapshot {
  /** When it was taken, on the clock that every other monotonic time in it is of. */
  readonly takenAt: Monotonic;
  /** Sorted by name, byte order (RC-21). */
  readonly sets: readonly SetSnapshot[];
  /** uids of pods with a deletion that was sent and is not yet seen, or has no answer (D-7). */
  readonly leaving: ReadonlySet<string>;
  /** What else names a set, by its uid: no controller moves it then (D-63). */
  readonly conflicts: Conflicts;
  /** Keyed by {@link referenceId}; every valid reference of the sets is in it. */
  readonly references: ReadonlyMap<string, ReferenceState>;
  readonly zoneTracker: ZoneTrackerReading;
  /** Times of last down-scales that this process watches, by name of the set. */
  readonly seenDownscales: ReadonlyMap<string, readonly SeenTime[]>;
  /** Keyed by the uid of the set; no pod of a set that is missing was called. */
  readonly preparations: ReadonlyMap<string, readonly Preparations[]>;
  /** Keyed by the uid of the set; missing where the last write of its note does not matter any more. */
  readonly notes: ReadonlyMap<string, NoteState>;
  /** Keyed by the uid of the set. */
  readonly paces: ReadonlyMap<string, Pace>;
  /** Requests without an answer that may still lower the replicas of a set, by its name. */
  readonly unanswered: ReadonlyMap<string, OpenScale>;
  /** How long a pod is not ready without a break before that alone makes it stuck; undefined: never. */
  readonly stuckAfter: Millis | undefined;
  /** What this process has seen of the pods itself. */
  readonly watched: Watched;
}
