import { getOrAdd } from '#base/get-or-add.ts';
import type { NearBudgets } from '#control/budget/former-budgets.ts';
import type { PodSelector } from '../spec/selector.ts';
import { selectorOf, type ZoneBudgetView } from './zone-budget-view.ts';

/** Budgets of one namespace, by what they want labels to be. */
interface Filed {
  readonly all: Set<ZoneBudgetView>;
  /** Keyed by the key of a label. */
  readonly wanting: Map<string, Wanting>;
}

/** Budgets that want a certain label to have one of some values. */
interface Wanting {
  readonly all: Set<ZoneBudgetView>;
  readonly byValue: Map<string, Set<ZoneBudgetView>>;
}

interface Wish {
  readonly key: string;
  readonly values: ReadonlySet<string>;
}

/**
 * Finds the budgets that may select a pod of another one, without a look at each: of thousands in a namespace nearly all
 * want one label, such as `app`, and each another value of it.
 */
export class OverlapIndex implements NearBudgets<ZoneBudgetView> {
  readonly #namespaces = new Map<string, Filed>();

  /** Files `budget`, which may be filed already. */
  add(budget: ZoneBudgetView): void {
    const selector = selectorOf(budget);
    if (selector === undefined) return;
    const filed = getOrAdd(this.#namespaces, budget.namespace, newFiled);
    filed.all.add(budget);
    for (const { key, values } of wishesOf(selector)) {
      const wanting = getOrAdd(filed.wanting, key, newWanting);
      wanting.all.add(budget);
      for (const value of values) getOrAdd(wanting.byValue, value, newSet).add(budget);
    }
  }

  /** Takes out `budget`, the very object that was filed. */
  remove(budget: ZoneBudgetView): void {
    const filed = this.#namespaces.get(budget.namespace);
    if (filed === undefined) return;
    filed.all.delete(budget);
    for (const { key, values } of wishesOf(selectorOf(budget))) {
      const wanting = filed.wanting.get(key);
      if (wanting === undefined) continue;
      wanting.all.delete(budget);
      for (const value of values) takeOut(wanting.byValue, { value, budget });
      if (wanting.all.size === 0) filed.wanting.delete(key);
    }
    if (filed.all.size === 0) this.#namespaces.delete(budget.namespace);
  }

  /** Returns all that may overlap with `budget`, itself too where it is filed, and some that do not; each at least once. */
  *near(budget: ZoneBudgetView): Generator<ZoneBudgetView> {
    const filed = this.#namespaces.get(budget.namespace);
    const selector = selectorOf(budget);
    if (filed === undefined || selector === undefined) return;
    const { all } = filed;
    const wish = fewest(filed, wishesOf(selector));
    if (wish === undefined) {
      yield* all;
      return;
    }
    const wanting = filed.wanting.get(wish.key) ?? newWanting();
    for (const value of wish.values) yield* wanting.byValue.get(value) ?? [];
    if (wanting.all.size === all.size) return;
    for (const each of all) if (!wanting.all.has(each)) yield each;
  }
}

/** Returns the one of `wishes` that leaves the fewest to be looked at. */
function fewest(filed: Filed, wishes: readonly Wish[]): Wish | undefined {
  const counted = wishes.map((wish) => ({ wish, count: candidates(filed, wish) }));
  return counted.toSorted((one, other) => one.count - other.count)[0]?.wish;
}

/** Returns how many budgets are to be looked at that do not want anything else than `wish`. */
function candidates({ all, wanting }: Filed, { key, values }: Wish): number {
  const known = wanting.get(key);
  let count = all.size - (known?.all.size ?? 0);
  for (const value of values) count += known?.byValue.get(value)?.size ?? 0;
  return count;
}

function wishesOf(selector: PodSelector): readonly Wish[] {
  return (selector ?? []).flatMap((each) => (each.operator === 'In' ? [each] : []));
}

function takeOut(
  byValue: Map<string, Set<ZoneBudgetView>>,
  { value, budget }: { readonly value: string; readonly budget: ZoneBudgetView },
): void {
  const filed = byValue.get(value);
  filed?.delete(budget);
  if (filed?.size === 0) byValue.delete(value);
}

function newFiled(): Filed {
  return { all: new Set(), wanting: new Map() };
}

function newWanting(): Wanting {
  return { all: new Set(), byValue: new Map() };
}

function newSet(): Set<ZoneBudgetView> {
  return new Set();
}
