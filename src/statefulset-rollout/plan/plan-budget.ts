import type { JsonValue } from '#base/json.ts';

/** A native PodDisruptionBudget that selects the pods. */
export interface SelectingBudget {
  readonly name: string;
  /** Number of pods, or a percentage such as `50%`; one of the two at most is there. */
  readonly maxUnavailable: JsonValue | undefined;
  readonly minAvailable: JsonValue | undefined;
  /** What its controller would still allow; undefined while it has not looked at the budget as it is now. */
  readonly disruptionsAllowed: number | undefined;
  /** Whether pods that are not ready may be evicted however few are ready: `unhealthyPodEvictionPolicy: AlwaysAllow`. */
  readonly evictsUnready: boolean;
}

/** How many pods may be away at once. */
export type Parallelism =
  /** No budget selects the pods. */
  | { readonly kind: 'no-budget'; readonly most: number }
  | {
      readonly kind: 'budget';
      readonly name: string;
      /** 0 or more. */
      readonly most: number;
      /** What the server would allow now; undefined while it is not known. */
      readonly allowed: number | undefined;
    }
  /** The API server evicts no pod that two of them select. */
  | { readonly kind: 'many-budgets'; readonly names: readonly string[] };

/**
 * Returns how many of `replicas` pods may be away at once by the native budgets that select them.
 *
 * @param without so many where there is none
 */
export function parallelismOf(
  budgets: readonly SelectingBudget[],
  replicas: number,
  without: number,
): Parallelism {
  const [budget, second] = budgets;
  if (budget === undefined) return { kind: 'no-budget', most: without };
  if (second !== undefined) {
    return { kind: 'many-budgets', names: budgets.map(({ name }) => name).toSorted() };
  }
  const { name, disruptionsAllowed: allowed } = budget;
  return { kind: 'budget', name, most: mostAway(budget, replicas), allowed };
}

/** Returns how many pods may be away; percentages are rounded up, as the controller of budgets does. */
function mostAway({ maxUnavailable, minAvailable }: SelectingBudget, replicas: number): number {
  if (maxUnavailable !== undefined) return countOf(maxUnavailable, replicas) ?? 0;
  const kept = minAvailable === undefined ? replicas : countOf(minAvailable, replicas);
  return kept === undefined ? 0 : Math.max(0, replicas - kept);
}

/** Returns a count; undefined for what is neither a count nor a percentage: nothing may go by it. */
function countOf(value: JsonValue, replicas: number): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0 ? value : undefined;
  const digits = typeof value === 'string' ? /^(\d{1,9})%$/.exec(value)?.[1] : undefined;
  return digits === undefined ? undefined : Math.ceil((replicas * Number(digits)) / 100);
}

/** How many pods may go now. */
export type BudgetAllowance =
  | { readonly kind: 'room'; readonly slots: number }
  /** The controller of budgets has not looked at the budget as it is now. */
  | { readonly kind: 'unknown'; readonly budget: string }
  | { readonly kind: 'many-budgets'; readonly names: readonly string[] };

/**
 * Returns how many pods may go while `unavailable` of them are away: what the budget leaves, and never more than the server
 * would allow now.
 */
export function roomOf(parallelism: Parallelism, unavailable: number): BudgetAllowance {
  if (parallelism.kind === 'many-budgets') return parallelism;
  const left = Math.max(0, parallelism.most - unavailable);
  if (parallelism.kind === 'no-budget') return { kind: 'room', slots: left };
  const { name, allowed } = parallelism;
  if (allowed === undefined) return { kind: 'unknown', budget: name };
  return { kind: 'room', slots: Math.max(0, Math.min(left, allowed)) };
}
