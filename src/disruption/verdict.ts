/** What a disruption budget says to the deletion of one pod. */
export type Verdict =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'refused'; readonly message: string }
  /** It cannot be told; nothing may be disrupted (RC-47). */
  | { readonly kind: 'unclear'; readonly message: string };

/** A question to the budgets that govern a pod (RC-50). */
export interface BudgetQuestion {
  readonly podName: string;
  /** Used instead of a budget's maximum of 0 (RC-47). */
  readonly override: number;
}

/**
 * The budgets over a group, as far as one plan may ask them. Pure: what they answer is part of the snapshot.
 * Until budgets are built only {@link unbudgeted} exists outside of tests (D-12).
 */
export interface Budgets {
  /** Whether a partition-aware budget covers the pod; unclear when several budgets match (RC-47). */
  partitionAwareness(podName: string): 'aware' | 'unaware' | Extract<Verdict, { kind: 'unclear' }>;
  verdict(question: BudgetQuestion): Verdict;
}

/** No budget matches: everything is allowed. */
export const unbudgeted: Budgets = Object.freeze({
  partitionAwareness: () => 'unaware' as const,
  verdict: () => ({ kind: 'allowed' as const }),
});
