import type { Because } from '#base/because.ts';
import type { Reason } from '#control/decision/reasons.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import type { PodView } from '#statefulset/view.ts';
import type { BudgetSpec } from '../api.ts';
import { overlapsOf } from '../cache/overlaps.ts';
import type { KnownBudget } from '../spec/known-budgets.ts';

/** What is wrong with a budget while it is, and what is reported of it. */
export interface BudgetFault {
  readonly budget: KnownBudget;
  readonly why: Because<Extract<Reason, `Budget${string}`>>;
}

/** All that is known of one budget. */
export interface ObservedBudget {
  readonly budget: KnownBudget;
  /** The sets that it selects by their own labels, with their pods; none where it never could be read. */
  readonly sets: readonly SetSnapshot[];
  /** Pods that it selects by theirs. */
  readonly pods: readonly PodView[];
  /** Why it is unknown what is given away under it; undefined while that is known, or was not asked yet. */
  readonly trouble: string | undefined;
}

/** Returns what is wrong with `budgets` of one namespace: each problem of a budget once. */
export function planProblems(budgets: readonly ObservedBudget[]): readonly BudgetFault[] {
  const single = budgets.flatMap((observed) => {
    const reasons = [unreadable(observed), neverMet(observed), unknownLedger(observed)];
    return reasons.flatMap((why) => (why === undefined ? [] : { budget: observed.budget, why }));
  });
  return [...single, ...overlapping(budgets)];
}

function unreadable({ budget: { problem, spec } }: ObservedBudget): BudgetFault['why'] | undefined {
  if (problem === undefined) return undefined;
  const meanwhile =
    spec === undefined
      ? 'until it is corrected, no pod that it may govern is disrupted'
      : 'until it is corrected, what it said before counts';
  return fault('BudgetUnreadable', `it cannot be read: ${problem}; ${meanwhile}`);
}

type Fault = BudgetFault['why'];

/**
 * Returns the fault of a budget that, as it stands, lets no pod go whatever happens: but for a limit of 0, which a user
 * wants.
 */
function neverMet({ budget: { spec }, sets, pods }: ObservedBudget): Fault | undefined {
  if (spec === undefined || (sets.length === 0 && pods.length === 0)) return undefined;
  const why = whyNever(spec, sets, pods);
  return why === undefined ? undefined : fault('BudgetNeverMet', why);
}

function whyNever(
  { span }: BudgetSpec,
  sets: readonly SetSnapshot[],
  pods: readonly PodView[],
): string | undefined {
  const [only] = sets;
  if (only === undefined) {
    return `it selects ${pods.length} pods and no StatefulSet by its own labels, so no pod may be disrupted; give the StatefulSets the labels of its selector`;
  }
  if (sets.length === 1) {
    return `it selects the one StatefulSet ${only.set.name}, and without another zone no pod may be disrupted; give those of the other zones the labels of its selector`;
  }
  if (span.kind !== 'partition') return undefined;
  const governed = sets.flatMap((each) => each.pods);
  const isMatched = governed.some(({ name }) => span.partitionOf(name).kind === 'partition');
  if (governed.length === 0 || isMatched) return undefined;
  return `its podNamePartitionRegex "${span.regex}" matches the name of no pod, such as ${governed[0]?.name ?? ''}, so none may be disrupted`;
}

function unknownLedger({ trouble }: ObservedBudget): Fault | undefined {
  if (trouble === undefined) return undefined;
  return fault('BudgetLedgerUnknown', `it is unknown which disruptions it has granted: ${trouble}`);
}

function overlapping(observed: readonly ObservedBudget[]): readonly BudgetFault[] {
  const pods = new Set(observed.flatMap((each) => each.pods));
  const overlaps = overlapsOf(
    observed.map(({ budget }) => budget),
    pods,
  );
  return overlaps.flatMap(({ budgets, pod }) =>
    budgets.map((budget) => {
      const others = budgets.filter((other) => other !== budget).map(({ name }) => name);
      const message =
        `it selects pod ${pod.name}, and so does ${others.join(', ')}: no pod of both is disrupted; ` +
        'let exactly one budget select each pod';
      return { budget, why: fault('BudgetsOverlap', message) };
    }),
  );
}

function fault(reason: Fault['reason'], message: string): Fault {
  return { reason, message };
}
