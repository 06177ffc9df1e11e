import type { Instant } from '#base/units.ts';
import type { Begun } from '#disruption/decision/decide.ts';
import type { Permission } from '#disruption/decision/permission.ts';
import type { PodView } from '#statefulset/view.ts';
import { type BudgetSight, noBudgetSight } from './budget-sight.ts';

/** A pod that a plan takes away. */
export interface WantedDisruption {
  readonly pod: PodView;
  readonly by: 'rollout' | 'scale-down';
  /** How many pods of its set may be unavailable at once; counts where a budget's own limit is 0. */
  readonly maxUnavailable: number;
}

/** A disruption whose request was sent. */
export interface BegunDisruption extends Pick<Begun, 'pod'> {
  readonly by: WantedDisruption['by'];
}

/** What this process has under way, whatever budgets say by now. */
export interface DisruptionsUnderWay {
  /** Reports whether the pod may go by a request of ours that was sent, or is about to be. */
  isUnderWay(uid: string): boolean;
  /** Returns all whose request was sent, and whose outcome does not show yet. */
  begun(): readonly BegunDisruption[];
}

/** Disruption budgets as passes over groups ask them. */
export interface GroupBudgets extends BudgetSight {
  /**
   * Returns what the budgets say to each of `wanted`, in their order: each counts what those before it take. As all is known
   * right now; synchronous, and without effect.
   */
  judge(wanted: readonly WantedDisruption[], now: Instant): readonly Permission[];
  /**
   * Has the ledgers store what {@link judge} calls `to-ask`; {@link judge} then returns the result.
   *
   * @throws what a request fails with; the reason of `signal` when that aborts first
   */
  ask(wanted: readonly WantedDisruption[], signal: AbortSignal): Promise<void>;
  /**
   * Notes which pods the plan of the group `key` wants away now, by uid: what is given for others, and is not under way,
   * is taken back.
   */
  wants(key: string, uids: ReadonlySet<string>): void;
  /** Says who says what is under way, from now on. */
  follow(underWay: DisruptionsUnderWay): void;
}

/** No budget governs anything. */
export const noBudgets: GroupBudgets = Object.freeze({
  ...noBudgetSight,
  judge: (wanted: readonly WantedDisruption[]) =>
    wanted.map((): Permission => ({ kind: 'ungoverned' })),
  ask: () => Promise.resolve(),
  wants: () => undefined,
  follow: () => undefined,
});
