import type { Plan } from './decision.ts';
import type { SetSnapshot } from './group-sets.ts';

/** A group as the caches show it at the begin of a pass. */
export interface GroupWork {
  /** The queue key of the group. */
  readonly key: string;
  /** Its sets with their pods, sorted by name; never empty. */
  readonly sets: readonly SetSnapshot[];
}

/** How the part of a pass that belongs to one capability ended. */
export interface GroupEnd {
  readonly plan: Plan;
  /** The failure of a request, for which the key is tried again; undefined when all were answered as hoped. */
  readonly error: unknown;
  /** Whether the world had moved under the plan, so that the key is planned again. */
  readonly isOutrun: boolean;
  /** Whether the group must be observed anew before anybody else works on it (D-18). */
  readonly endsPass: boolean;
  /** Why the pass counts as failed (ME-11); undefined when it does not. */
  readonly failure: Error | string | undefined;
}

/** What works on groups of StatefulSets. Capabilities share keys, and know nothing of each other (D-18). */
export interface GroupCapability {
  /** Names it in what was said last, such as `rollout`. */
  readonly name: string;
  /**
   * Its part of one pass. What it throws is a fault of this program, or a view that cannot be trusted any more (D-6).
   */
  reconcile(work: GroupWork, signal: AbortSignal): Promise<GroupEnd>;
  /** The group is gone. */
  forget?(key: string): void;
}
