import type { JsonObject } from '#base/json.ts';
import type { Instant, Millis } from '#base/units.ts';
import type { Cached } from '#kubernetes/informer/informer.ts';

/** The part of a StatefulSet's status that the controller owns (SS-11). */
export interface SetStatus {
  readonly observedGeneration: number;
  readonly replicas: number;
  readonly readyReplicas: number;
  readonly availableReplicas: number;
  readonly currentReplicas: number;
  readonly updatedReplicas: number;
  /** Empty until the controller has set it. */
  readonly currentRevision: string;
  /** Empty until the controller has set it. */
  readonly updateRevision: string;
  readonly collisionCount: number;
}

/** `spec.updateStrategy.rollingUpdate`; absent and present behave differently (SS-9). */
export interface RollingUpdate {
  readonly partition: number;
  /** A count, or a text such as `50%`; absent counts as 1. */
  readonly maxUnavailable: number | string | undefined;
}

/** What the controller reads of a StatefulSet. */
export interface SetView extends Cached {
  readonly generation: number;
  readonly isDeleting: boolean;
  readonly annotations: Readonly<Record<string, string>>;
  readonly replicas: number;
  readonly ordinalsStart: number;
  readonly serviceName: string;
  readonly minReady: Millis;
  readonly isOrdered: boolean;
  /** `RollingUpdate` or `OnDelete`. */
  readonly strategy: string;
  readonly rollingUpdate: RollingUpdate | undefined;
  readonly revisionHistoryLimit: number;
  readonly selector: JsonObject;
  readonly template: JsonObject;
  readonly claimTemplates: readonly JsonObject[];
  /** Canonical JSON of the template's revision data (SS-4): equal templates, equal text. */
  readonly templateData: string;
  readonly status: SetStatus;
  /** The object as the server sent it, for the replace of its status. */
  readonly object: JsonObject;
}

/** What the controller reads of a Pod. */
export interface SetPod extends Cached {
  /** uid of the controlling owner; empty for an orphan. */
  readonly ownerUid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The name of the revision that it was made from; empty when it carries none. */
  readonly revision: string;
  /** What its name says before the last hyphen; empty for a name without an ordinal. */
  readonly setName: string;
  /** What its name says after the last hyphen; -1 for a name without an ordinal. */
  readonly ordinal: number;
  /** Whether the labels that repeat name and ordinal are right (SS-13). */
  readonly hasIdentity: boolean;
  readonly phase: string;
  readonly isTerminating: boolean;
  /** `lastTransitionTime` of the Ready condition while it is True, else undefined. */
  readonly readySince: Instant | undefined;
}

/** What the controller reads of a ControllerRevision. */
export interface RevisionView extends Cached {
  /** uid of the controlling owner; empty for an orphan. */
  readonly ownerUid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly revision: number;
  readonly creationTimestamp: string;
  readonly template: JsonObject;
  /** Canonical JSON of `data`. */
  readonly data: string;
}

/** What differs between Kubernetes versions (SS-16). */
export interface SetSwitches {
  /** Whether `rollingUpdate.maxUnavailable` is honoured; off by default, also in 1.36. */
  readonly maxUnavailable: boolean;
  /** The later fix for Parallel: old pods that are unavailable already go beyond the budget. */
  readonly replacesUnavailableFirst: boolean;
}

/** Everything that one pass over a set decides on. */
export interface SetSnapshot {
  readonly set: SetView;
  /** Pods that the set owns, and orphans that it might adopt; in no order. */
  readonly pods: readonly SetPod[];
  /** Revisions that the set owns, and orphans that it might adopt; in no order. */
  readonly revisions: readonly RevisionView[];
  /** Whether the PersistentVolumeClaim of this name exists in the set's namespace. */
  readonly hasClaim: (name: string) => boolean;
  /** The collision count of the status, or one that a name collision has raised (SS-4). */
  readonly collisionCount: number;
  readonly switches: SetSwitches;
}
