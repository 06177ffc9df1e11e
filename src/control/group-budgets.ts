import type { Instant } from '#base/units.ts';
import type { Permission } from '#disruption/permission.ts';
import type { PodView } from '#statefulset/view.ts';
import type { BudgetSight } from './budget-sight.ts';

/** A pod that a plan takes away. */
export interface WantedDisruption {
  readonly pod: PodView;
  readonly by: 'rollout' | 'scale-down';
  /** How many pods of its set may be unavailable at once; counts where a budget's own limit is 0 (G3). */
  readonly maxUnavailable: number;
}

/** Disruption budgets as passes over groups ask them. */
export interface GroupBudgets extends BudgetSight {
  /**
   * What the budgets say to each of `wanted`, in their order: each counts what those before it take. As all is known
   * right now; synchronous, and without effect.
   */
  judge(wanted: readonly WantedDisruption[], now: Instant): readonly Permission[];
  /**
   * Has the ledgers store what {@link judge} calls `to-ask`; what becomes of it {@link judge} tells then.
   *
   * @throws what a request fails with; the reason of `signal` when that aborts first
   */
  ask(wanted: readonly WantedDisruption[], signal: AbortSignal): Promise<void>;
  /**
   * Notes which pods the plan of the group `key` wants away now, by uid: what is given for others of that group, and is
   * not under way, is taken back.
   */
  wants(key: string, uids: ReadonlySet<string>): void;
}
