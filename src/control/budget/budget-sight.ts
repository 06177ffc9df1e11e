import type { Monotonic } from '#base/units.ts';

/** Budgets as a part of a view. */
export type ProvenBudgets =
  /** All budgets of that time are in the view. */
  | { readonly kind: 'proven'; readonly provenAt: Monotonic }
  /** The Role does not permit listing them: they are no part of the view, and that was reported at the start (D-51). */
  | { readonly kind: 'not-permitted' };

/** What the view shows of budgets. */
export type BudgetProof = ProvenBudgets | { readonly kind: 'unproven' };

/** Disruption budgets of kinds that may appear while the operator runs (D-51). */
export interface BudgetSight {
  /** Returns how old the view of the budgets over the group `key` is. */
  proof(key: string): BudgetProof;
  /** Makes the view new by a request, such as a check whether the server has the type by now. @throws what it fails with */
  look(key: string, signal: AbortSignal): Promise<void>;
}

/** Budgets that are no part of the view. */
export const noBudgetSight: BudgetSight = Object.freeze({
  proof: () => ({ kind: 'not-permitted' as const }),
  look: () => Promise.resolve(),
});
