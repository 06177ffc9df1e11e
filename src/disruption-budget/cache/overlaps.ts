import type { PodView } from '#statefulset/view.ts';
import type { KnownBudget } from '../spec/known-budgets.ts';
import { SelectingBudgets } from './selecting-budgets.ts';

/** Budgets that select one pod together, so that nothing may disrupt it. */
export interface BudgetOverlap {
  /** Two at least, of one namespace, sorted by name. */
  readonly budgets: readonly KnownBudget[];
  /** One of the pods: the first by name. */
  readonly pod: PodView;
}

/**
 * Returns which of `budgets` overlap over `pods`, once for all pods of the same budgets. Budgets of which it cannot be known
 * what they select are left out.
 */
export function overlapsOf(
  budgets: readonly KnownBudget[],
  pods: Iterable<PodView>,
): readonly BudgetOverlap[] {
  const among = new SelectingBudgets(budgets);
  const found = new Map<string, BudgetOverlap>();
  for (const pod of pods) {
    const selecting = among.of(pod);
    if (selecting.length < 2) continue;
    const key = selecting.map(({ uid }) => uid).join(' ');
    const known = found.get(key);
    if (known === undefined || pod.name < known.pod.name) {
      found.set(key, { budgets: selecting, pod });
    }
  }
  return [...found.values()];
}
