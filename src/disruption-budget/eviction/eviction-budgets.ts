import type { Instant } from '#base/units.ts';
import type { BudgetRef } from '#disruption/budget.ts';
import type { Denial } from '#disruption/decision/denial.ts';
import type { PodView } from '#statefulset/view.ts';

/** What the budgets say to the eviction of a pod. */
export type EvictionVerdict =
  | {
      readonly kind: 'not-governed';
      /** Whether a budget governs the StatefulSet of the pod, which may have got the labels of its others since. */
      readonly isSetGoverned: boolean;
    }
  /** Its reservation is stored; in a dry run it would be. */
  | { readonly kind: 'allowed'; readonly budget: BudgetRef; readonly isRepeated: boolean }
  | { readonly kind: 'denied'; readonly budget: BudgetRef; readonly denial: Denial }
  /** It cannot be known which budget governs the pod, or what it says: a person has to mend that. */
  | { readonly kind: 'ambiguous'; readonly budgets: readonly string[]; readonly text: string }
  /** Nothing controls the pod, or what does is no StatefulSet; `text` says what it is. */
  | { readonly kind: 'no-set'; readonly budget: BudgetRef; readonly text: string }
  /** It cannot be known now: `why`, and `until` when at the latest if that is known. */
  | {
      readonly kind: 'unclear';
      readonly budget: BudgetRef | undefined;
      readonly why: string;
      readonly until: Instant | undefined;
    };

/** Disruption budgets as evictions ask them, on any replica. */
export interface EvictionBudgets {
  /** Returns the pod in the cache; undefined where the cache has none of that name. */
  pod(namespace: string, name: string): PodView | undefined;
  /** Reports whether any budget may govern pods of `namespace`, as far as this process knows. */
  mayGovern(namespace: string): boolean;
  /** Reports whether any budget may govern `pod`, by the labels that are given. */
  governs(pod: PodView): boolean;
  /**
   * Reports whether `pod` may be evicted; an answer `allowed` is stored by then, but for a dry run.
   *
   * @throws the reason of `signal` when that aborts first; what the API server fails with
   */
  judgeEviction(
    pod: PodView,
    options: { readonly isDryRun: boolean },
    signal: AbortSignal,
  ): Promise<EvictionVerdict>;
}
