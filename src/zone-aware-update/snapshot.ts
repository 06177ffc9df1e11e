import type { Parsed } from '#base/parsed.ts';
import type { Millis, Monotonic } from '#base/units.ts';
import type { CheckAnswer, QuestionKey } from '#check/answer.ts';
import type { SetHold } from '#control/plan/set-holds.ts';
import type { PodView, StatefulSetView, Watched } from '#statefulset/view.ts';
import type { ZoneAwareUpdateSpec } from './api.ts';
import type { UpdateStatus } from './status.ts';

/** All that one decision about a ZoneAwareUpdate needs to know; immutable, and of one instant. */
export interface UpdateSnapshot {
  readonly resource: StoredUpdate;
  /** The set that `spec.statefulset` names; undefined where there is none. */
  readonly target: UpdatedSet | undefined;
  /** Another ZoneAwareUpdate over the same set that comes first, being older; undefined where this one does (W-14). */
  readonly rival: string | undefined;
  /** What else would move the same set, such as `PhasedRollout a`; no controller moves it then (D-63). */
  readonly conflicts: readonly string[];
  /** Why nothing may be disrupted now, the first to be reported. */
  readonly holds: readonly SetHold[];
  /** Why single pods may not go now, by uid. */
  readonly refusals: ReadonlyMap<string, SetHold>;
  readonly gates: Readonly<Record<GateKind, GateSight>>;
  /** uids of pods with a deletion that was sent and is not yet seen, or has no answer (D-7). */
  readonly leaving: ReadonlySet<string>;
  /** What was sent of a step that is being sent: these pods count as they were when it was decided. */
  readonly begun: BegunStep;
  /** How long a pod is not ready without a break before that alone makes it stuck; undefined: never. */
  readonly stuckAfter: Millis | undefined;
  /** What this process has seen of the pods itself. */
  readonly watched: Watched;
}

/** Pods of one step whose deletion was sent, as they were before, by name. */
export type BegunStep = ReadonlyMap<string, PodView>;

/** A ZoneAwareUpdate as it is stored. */
export interface StoredUpdate {
  readonly name: string;
  readonly spec: Parsed<ZoneAwareUpdateSpec>;
  readonly status: UpdateStatus;
}

/** A StatefulSet as a ZoneAwareUpdate sees it. */
export interface UpdatedSet {
  readonly set: StatefulSetView;
  /** Pods whose controlling owner is this set; in no order. */
  readonly pods: readonly PodView[];
  /** The zone of each pod whose zone is known, by uid: of the node that it runs on, or ran on. */
  readonly zones: ReadonlyMap<string, string>;
}

/** What outside may hold the next step: an alarm of CloudWatch, and a query of Prometheus. */
export type GateKind = 'alarm' | 'query';

/** How far this process has come with asking at one of them. */
export interface GateSight {
  /** The time of the snapshot on the clock that does not step. */
  readonly steady: Monotonic;
  /** Names what is asked now, and where; empty for nothing. */
  readonly questionId: string;
  /** What has been asked, and is not answered. */
  readonly asked?: QuestionKey;
  readonly answer?: CheckAnswer;
}
