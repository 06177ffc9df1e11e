import { labelsOf } from '#statefulset/pod-labels.ts';
import type { PodView } from '#statefulset/view.ts';
import { selects } from './api.ts';
import type { KnownBudget } from './known-budgets.ts';

/** Budgets that select one pod together, so that nothing may disrupt it (W8). */
export interface BudgetOverlap {
  /** Two at least, of one namespace, sorted by name. */
  readonly budgets: readonly KnownBudget[];
  /** One of the pods: the first by name. */
  readonly pod: PodView;
}

/**
 * Returns which of `budgets` overlap over `pods`, once for all pods of the same budgets. Budgets of which it cannot be told
 * what they select are left out.
 */
export function overlapsOf(
  budgets: readonly KnownBudget[],
  pods: Iterable<PodView>,
): readonly BudgetOverlap[] {
  const sorted = budgets.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const found = new Map<string, BudgetOverlap>();
  for (const pod of pods) {
    const selecting = selectingOf(pod, sorted);
    if (selecting.length < 2) continue;
    const key = selecting.map(({ uid }) => uid).join(' ');
    const known = found.get(key);
    if (known === undefined || pod.name < known.pod.name) {
      found.set(key, { budgets: selecting, pod });
    }
  }
  return [...found.values()];
}

function selectingOf(pod: PodView, budgets: readonly KnownBudget[]): readonly KnownBudget[] {
  const near = budgets.filter(({ namespace }) => namespace === pod.namespace);
  if (near.length < 2) return [];
  const labels = labelsOf(pod);
  return near.filter(
    ({ matchLabels }) => matchLabels !== undefined && selects({ matchLabels }, labels),
  );
}
