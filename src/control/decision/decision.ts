import type { Because } from '#base/because.ts';
import type { Instant, Monotonic } from '#base/units.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import type { Reason } from './reasons.ts';

/** Names one StatefulSet incarnation. */
export interface SetRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Names one pod incarnation in the one state that a decision was made on. */
export interface PodRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The revision that it runs; undefined while it says none. */
  readonly revision: string | undefined;
}

/** Names one object of any kind, such as the one whose replicas sets mirror. */
export interface ObjectRef {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
}

/** One pod goes. */
export interface PodDeletion<Why extends string> {
  readonly kind: 'delete-pod';
  readonly set: SetRef;
  readonly pod: PodRef;
  /** Nothing for a pod that is stuck already (D-48); the slot of its set otherwise. */
  readonly costs: 'a-slot' | 'nothing';
  /** How many pods of the set may be unavailable at once. */
  readonly maxUnavailable: number;
  readonly because: Because<Why>;
}

/** `status.currentRevision` of the set becomes its update revision, which some controllers never do under OnDelete. */
export interface RevisionPromotion<Why extends string> {
  readonly kind: 'set-current-revision';
  readonly set: SetRef;
  readonly from: string;
  readonly to: string;
  readonly because: Because<Why>;
}

/** One thing that a plan does, or why it does not. Each says why. */
export type Decision =
  | PodDeletion<Reason>
  | RevisionPromotion<Reason>
  /** `spec.replicas` goes from `from` to `to`; `takes` available pods go with it, all at once (D-17). */
  | {
      readonly kind: 'scale';
      readonly set: SetRef;
      readonly from: number;
      readonly to: number;
      readonly takes: number;
      /** The resourceVersion of the set that was decided on. */
      readonly revision: string;
      /** When the oldest answer of a pod came that it rests on; undefined where it rests on none. */
      readonly provenAt?: Monotonic;
      readonly because: Because<Reason>;
    }
  /** `status.replicas` of a resource whose replicas are mirrored, `set` being one that does (SC-40, D-20). */
  | {
      readonly kind: 'write-back';
      readonly set: SetRef;
      readonly reference: ObjectRef;
      /** What it says now. */
      readonly from: number;
      readonly replicas: number;
      readonly because: Because<Reason>;
    }
  /** The set remembers the URLs at which its pods may be prepared; without any, nothing. */
  | {
      readonly kind: 'note-prepared';
      readonly set: SetRef;
      readonly urls: readonly string[];
      /** The resourceVersion of the set that was decided on. */
      readonly revision: string;
      readonly because: Because<Reason>;
    }
  /**
   * A pod of `set` is asked how long it has been prepared to go (POST), or notified that it stays (DELETE). Reported by what makes the
   * call: no Event reports each.
   */
  | {
      readonly kind: 'call-pod';
      readonly set: SetRef;
      readonly ordinal: number;
      readonly podUid: string;
      /** Whether the pod was Ready: one that becomes so is called again at once, whatever its wait. */
      readonly isPodReady: boolean;
      readonly method: 'POST' | 'DELETE';
      /** As the set names it; its host is replaced by the pod's. */
      readonly url: string;
      readonly because: Because<Reason>;
    }
  /** Nothing is done about `set`; `until` when time alone ends it. */
  | {
      readonly kind: 'hold';
      readonly set: SetRef;
      readonly until?: Instant;
      readonly because: Because<Reason>;
    }
  /** Input that cannot be used as it is; work goes on. */
  | { readonly kind: 'warn'; readonly set: SetRef; readonly because: Because<Reason> };

/** A decision by which a pod goes. */
export type DeletePod = Extract<Decision, { kind: 'delete-pod' }>;

/** A decision by which the replicas of a set change. */
export type Scale = Extract<Decision, { kind: 'scale' }>;

/** A decision by which a number is reported to the resource that it came from. */
export type WriteBack = Extract<Decision, { kind: 'write-back' }>;

/** A decision by which a set remembers where its pods may be prepared. */
export type NotePrepared = Extract<Decision, { kind: 'note-prepared' }>;

/** A decision by which a pod is called. */
export type CallPod = Extract<Decision, { kind: 'call-pod' }>;

/** Reports whether `decision` takes available pods away, so that it must rest on a view that is proven fresh (D-3). */
export function isDisruptive(decision: Decision): boolean {
  return decision.kind === 'delete-pod' || (decision.kind === 'scale' && decision.takes > 0);
}

/** When to look at a key again although nothing changes. */
export type Requeue =
  | { readonly kind: 'await-change' }
  | { readonly kind: 'at'; readonly at: Instant };

/** Pods of one set by what a rollout still has to do; for gauges and the terminal. */
export interface SetProgress {
  readonly set: SetRef;
  readonly outdated: number;
  readonly updated: number;
  readonly unavailable: number;
}

/** What a pure planner returns. */
export interface Plan {
  readonly decisions: readonly Decision[];
  readonly requeue: Requeue;
  /** Why the pass counts as failed (ME-11); undefined when it does not. */
  readonly failure: string | undefined;
  readonly progress: readonly SetProgress[];
}
