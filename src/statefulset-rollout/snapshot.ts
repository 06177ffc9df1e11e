import type { Parsed } from '#base/parsed.ts';
import type { Instant, Millis } from '#base/units.ts';
import type { SetHold } from '#control/plan/set-holds.ts';
import type { PodView, StatefulSetView, Watched } from '#statefulset/view.ts';
import type { StatefulsetRolloutSpec } from './api.ts';
import type { SelectingBudget } from './plan/plan-budget.ts';
import type { DiscoveryTrouble } from './plan/plan-decision.ts';
import type { RolloutProgress } from './progress.ts';

/** All that one decision about a StatefulsetRollout needs to know; immutable, and of one instant. */
export interface RolloutSnapshot {
  readonly resource: StoredRollout;
  /** What the spec comes to; undefined where that cannot be read. */
  readonly wanted: WantedRollout | undefined;
  /** The set that the spec names; undefined where there is none. */
  readonly target: RolledSet | undefined;
  readonly comparison: SetComparison;
  /** What the API server says to the set that is wanted, where it was asked. */
  readonly validation: SetValidation;
  /** Who has the set, as users know it, such as `StatefulsetRollout b`; undefined where this resource does, or nothing. */
  readonly owner: string | undefined;
  /** What else would move the set, such as `PhasedRollout a`; no controller moves it then (D-63). */
  readonly conflicts: readonly string[];
  /** Why it is not known yet what else would, as a clause; undefined where it is. */
  readonly unknownOwners: string | undefined;
  /** How the evictions of this process ended that were sent last; undefined where none was. */
  readonly evictions: EvictionResults | undefined;
  /** Native budgets of the namespace that select the pods. */
  readonly budgets: readonly SelectingBudget[];
  readonly elsewhere: PodsElsewhere;
  readonly governance: Governance;
  readonly discovery: DiscoverySight;
  /** Whether the controllers of this cluster can pin pods. */
  readonly pinSupport: PinSupport;
  /** Why nothing may be disrupted now, the first to be reported. */
  readonly holds: readonly SetHold[];
  /** Until when it was held for the sake of an earlier process, or is; undefined where it never was. */
  readonly heldUntil: Instant | undefined;
  /** uids of pods whose eviction was sent and is not seen yet, or has no answer. */
  readonly leaving: ReadonlySet<string>;
  /** What this process has seen of the pods itself. */
  readonly watched: Watched;
  /** How long a pod is not ready without a break before that alone makes it stuck; undefined: never. */
  readonly stuckAfter: Millis | undefined;
}

/** What disruption budgets of our own kinds say to the next pod that a partition would let go: nobody evicts it, so that no webhook is asked. */
export interface Governance {
  /** Whether any is over that pod, so that each goes by itself. */
  readonly isGoverned: boolean;
  /** Why it may not go now; absent where it may, as far as is known. */
  readonly hold?: SetHold;
}

/** No disruption budget is over any pod. */
export const ungoverned: Governance = Object.freeze({ isGoverned: false });

/** Other pinned sets under the same budgets: pods of them are away, or may be shortly, of which no budget may know yet. */
export interface PodsElsewhere {
  /** Of such pods; infinite where it is not known. */
  readonly count: number;
  /** Of all those sets. */
  readonly replicas: number;
  /** Names of the sets that have some. */
  readonly sets: readonly string[];
}

/** There are none. */
export const nothingElsewhere: PodsElsewhere = Object.freeze({ count: 0, replicas: 0, sets: [] });

/** A StatefulsetRollout as it is stored. */
export interface StoredRollout {
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly isDeleting: boolean;
  readonly hasFinalizer: boolean;
  /** Whether it is deleted in a way that leaves what it owns alone. */
  readonly isOrphaning: boolean;
  readonly spec: Parsed<StatefulsetRolloutSpec>;
  /** The generation that its status is about. */
  readonly observedGeneration: number;
  readonly progress: RolloutProgress;
}

/** By what a rollout is distinguished from the one before. */
export interface WantedRollout {
  /** Another one begins a rollout again. */
  readonly key: string;
  /** Another one is another version. */
  readonly templateHash: string;
}

/** A StatefulSet as a StatefulsetRollout sees it. */
export interface RolledSet {
  readonly set: StatefulSetView;
  /** Pods whose controlling owner is this set; in no order. */
  readonly pods: readonly PodView[];
  /** Whether it carries the mark of this resource. */
  readonly isOurs: boolean;
  /** Whether this resource controls it, as it does where it made it; who finds a set does not. */
  readonly isControlled: boolean;
  /** Whether the revision that is being rolled out was made before the one that was rolled out last. */
  readonly isRollback: boolean;
}

/** What the API server said to evictions. */
export interface EvictionResults {
  /** When one was accepted last. */
  readonly acceptedAt: Instant | undefined;
  /** Since then, or ever; undefined where none was refused. */
  readonly refused: EvictionRefusal | undefined;
}

/** Evictions that were refused in a row. */
export interface EvictionRefusal {
  readonly reason: 'PDBBlocked' | 'ApiThrottled' | 'MultipleBudgets' | 'EvictionForbidden';
  readonly message: string;
  /** Until when none is sent. */
  readonly until: Instant;
}

/** How the set that is there differs from the one that is wanted. */
export type SetComparison =
  /** It has not been read since one of the two changed. */
  | { readonly kind: 'unread' }
  | { readonly kind: 'equal' }
  /** Only in how many pods it has, and the resource says how many. */
  | ({ readonly kind: 'replicas' } & WantedScale)
  /** `partition`: what it is written with; absent where it pins no pods. */
  | {
      readonly kind: 'differs';
      readonly paths: readonly string[];
      readonly partition?: number;
      readonly scale?: WantedScale;
    }
  /** In what the API server lets no client change. */
  | {
      readonly kind: 'immutable';
      readonly paths: readonly string[];
      readonly isSelectorEqual: boolean;
      readonly scale?: WantedScale;
    };

/** How many pods the resource wants, where the set has another number. */
export interface WantedScale {
  readonly to: number;
  /** What it is written with; absent where it pins no pods, or pins as many as before. */
  readonly partition?: number;
}

/** What a dry run said. */
export type SetValidation =
  | { readonly kind: 'unasked' }
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly message: string };

/** What service discovery says of the pods. */
export type DiscoverySight =
  /** Nothing is asked of it, or it knows none of the services. */
  | { readonly kind: 'off' }
  | {
      readonly kind: 'known';
      /** uids of the pods that pass in each service that is there, or was in this rollout. */
      readonly passing: ReadonlySet<string>;
      /** Names of those that are there, sorted. */
      readonly services: readonly string[];
    }
  /** It has been asked for the first time, and that holds the rollout briefly. */
  | { readonly kind: 'awaited' }
  /** It cannot be asked, and that holds the rollout. */
  | { readonly kind: 'unknown'; readonly code: DiscoveryTrouble; readonly message: string }
  /** It cannot be asked, and the resource does without it. */
  | { readonly kind: 'ignored'; readonly code: DiscoveryTrouble; readonly message: string };

/** Whether the StatefulSet controller of the cluster makes pods below a partition again as they were. */
export type PinSupport =
  /** It has not been asked. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'supported' }
  | { readonly kind: 'unsupported'; readonly message: string };
