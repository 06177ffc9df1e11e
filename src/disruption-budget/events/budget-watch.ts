import { getOrAdd } from '#base/get-or-add.ts';
import type { SetScope } from '#control/watch/group-sets.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import type { BudgetsInView } from '../cache/budgets-in-view.ts';
import { SelectingBudgets } from '../cache/selecting-budgets.ts';
import type { BudgetLedgers } from '../ledger/budget-ledgers.ts';
import type { GovernedSets } from '../ledger/governed-sets.ts';
import type { KnownBudget } from '../spec/known-budgets.ts';
import { type BudgetFault, type ObservedBudget, planProblems } from './plan-problems.ts';
import { type ToldProblemPorts, ToldProblems } from './told-problems.ts';

/** What {@link watchBudgets} reads. */
export interface BudgetWatchPorts extends Omit<ToldProblemPorts, 'faults'> {
  readonly pods: Pick<Informer<PodView>, 'lister'>;
  readonly statefulSets: Pick<Informer<StatefulSetView>, 'onChange'>;
  readonly inView: BudgetsInView;
  readonly sets: Pick<GovernedSets, 'view'>;
  readonly ledgers: Pick<BudgetLedgers, 'trouble'>;
}

/** Tells what is wrong with budgets, from now on until the answer's `close` is called. */
export function watchBudgets(ports: BudgetWatchPorts): { close(): void } {
  const told = new ToldProblems({ ...ports, faults: () => faultsOf(ports) });
  ports.inView.onChange(() => told.wake());
  ports.statefulSets.onChange(({ kind }) => {
    if (kind !== 'updated') told.wake();
  });
  told.wake();
  return told;
}

function faultsOf(ports: BudgetWatchPorts): readonly BudgetFault[] {
  const byNamespace = Map.groupBy(ports.inView.list(), ({ namespace }) => namespace);
  if (byNamespace.size === 0) return [];
  const among = new SelectingBudgets(ports.inView.list());
  const pods = new Map<KnownBudget, PodView[]>();
  for (const pod of ports.pods.lister.list()) {
    for (const budget of among.of(pod)) getOrAdd(pods, budget, () => []).push(pod);
  }
  return [...byNamespace.values()].flatMap((budgets) =>
    planProblems(budgets.map((budget) => observed(budget, pods.get(budget) ?? [], ports))),
  );
}

/** @param pods those that it selects by their own labels */
function observed(
  budget: KnownBudget,
  pods: readonly PodView[],
  { sets, ledgers }: BudgetWatchPorts,
): ObservedBudget {
  const trouble = ledgers.trouble(budget.uid);
  const { namespace, matchLabels } = budget;
  if (matchLabels === undefined) return { budget, sets: [], pods: [], trouble };
  const scope: SetScope = { namespace, matchLabels };
  return { budget, sets: sets.view(scope).sets, pods, trouble };
}
