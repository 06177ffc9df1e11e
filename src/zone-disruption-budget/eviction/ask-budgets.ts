import { refusalsIn, type ZoneBudgetVerdict } from './eviction-verdict.ts';

/** A budget that selects the pod that is to be evicted. */
export interface AskedBudget {
  readonly name: string;
  /** Whether it is a dry run itself. */
  readonly isDryRun: boolean;
  /** Judges the eviction; records it as well where it is allowed, but for a dry run. */
  ask(isDryRun: boolean): Promise<ZoneBudgetVerdict>;
}

/**
 * Returns what all of `budgets` say to an eviction, by their names: each must allow it (W-19). Where there are several, none
 * records anything unless all would allow it; one that says no after others have recorded it, as something came between,
 * leaves these with a reservation that ends by itself when the pod stays.
 *
 * @throws what the first of them throws
 */
export async function askBudgets(
  budgets: readonly AskedBudget[],
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<readonly ZoneBudgetVerdict[]> {
  const all = budgets.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const [only] = all;
  if (only !== undefined && all.length === 1) return [await only.ask(isDryRun || only.isDryRun)];
  const verdicts = await Promise.all(all.map((budget) => budget.ask(true)));
  if (isDryRun || refusalsIn(verdicts).length > 0) return verdicts;
  const asked: ZoneBudgetVerdict[] = [];
  for (const [index, budget] of all.entries()) {
    const tried = verdicts[index];
    const verdict = budget.isDryRun && tried !== undefined ? tried : await budget.ask(false);
    asked.push(verdict);
    if (refusalsIn([verdict]).length > 0) break;
  }
  return asked;
}
