import { getOrAdd } from '#base/get-or-add.ts';
import { isOwnLabel, labelsOf, type PodLabels } from '#statefulset/pod-labels.ts';
import type { PodView } from '#statefulset/view.ts';
import { selects } from '../api.ts';
import type { KnownBudget } from '../spec/known-budgets.ts';

/** Budgets by what they select with: labels that the pods of a template share, or any that each pod has of its own. */
interface Near {
  readonly byShared: readonly KnownBudget[];
  readonly byOwn: readonly KnownBudget[];
  /** Those of `byShared` that select the pods with these labels. */
  readonly known: Map<PodLabels, readonly KnownBudget[]>;
}

/**
 * Answers which of some budgets select a pod by that pod's own labels. Thousands of pods have the labels of a few templates:
 * each template is looked at once, however many pods it has.
 */
export class SelectingBudgets {
  readonly #byNamespace: ReadonlyMap<string, Near>;

  /** @param budgets those of which it cannot be known what they select are left out */
  constructor(budgets: readonly KnownBudget[]) {
    const sorted = budgets.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const grouped = Map.groupBy(sorted, ({ namespace }) => namespace);
    this.#byNamespace = new Map([...grouped].map(([namespace, near]) => [namespace, parted(near)]));
  }

  /** Returns those that select `pod`, sorted by name. */
  of(pod: PodView): readonly KnownBudget[] {
    const near = this.#byNamespace.get(pod.namespace);
    if (near === undefined) return [];
    const shared = getOrAdd(near.known, pod.labels, () => selecting(near.byShared, pod));
    if (near.byOwn.length === 0) return shared;
    const own = selecting(near.byOwn, pod);
    return [...shared, ...own].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }
}

function parted(budgets: readonly KnownBudget[]): Near {
  const isByOwn = ({ matchLabels }: KnownBudget): boolean =>
    [...(matchLabels?.keys() ?? [])].some(isOwnLabel);
  const byOwn = budgets.filter(isByOwn);
  const byShared = budgets.filter((budget) => !isByOwn(budget));
  return { byShared, byOwn, known: new Map() };
}

function selecting(budgets: readonly KnownBudget[], pod: PodView): readonly KnownBudget[] {
  const labels = labelsOf(pod);
  return budgets.filter(
    ({ matchLabels }) => matchLabels !== undefined && selects({ matchLabels }, labels),
  );
}
