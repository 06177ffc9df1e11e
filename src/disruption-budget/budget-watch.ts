import type { SetScope } from '#control/group-sets.ts';
import type { Informer } from '#kubernetes/informer.ts';
import { labelsOf } from '#statefulset/pod-labels.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { selects } from './api.ts';
import type { BudgetLedgers } from './budget-ledgers.ts';
import type { BudgetsInView } from './budgets-in-view.ts';
import type { GovernedSets } from './governed-sets.ts';
import type { KnownBudget } from './known-budgets.ts';
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
  const pods = Map.groupBy(ports.pods.lister.list(), ({ namespace }) => namespace);
  return [...byNamespace].flatMap(([namespace, budgets]) => {
    const near = pods.get(namespace) ?? [];
    return planProblems(budgets.map((budget) => observed(budget, near, ports)));
  });
}

/** @param near the pods of its namespace */
function observed(
  budget: KnownBudget,
  near: readonly PodView[],
  { sets, ledgers }: BudgetWatchPorts,
): ObservedBudget {
  const trouble = ledgers.trouble(budget.uid);
  const { namespace, matchLabels } = budget;
  if (matchLabels === undefined) return { budget, sets: [], pods: [], trouble };
  const scope: SetScope = { namespace, matchLabels };
  const selected = near.filter((pod) => selects({ matchLabels }, labelsOf(pod)));
  return { budget, sets: sets.view(scope).sets, pods: selected, trouble };
}
