import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { GroupBudgets } from '#control/budget/group-budgets.ts';
import type { PredecessorWait } from '#control/plan/predecessor-wait.ts';
import { WatchedPods } from '#control/watch/watched-pods.ts';
import { BudgetsInView } from '#disruption-budget/cache/budgets-in-view.ts';
import { DisruptionBudgets } from '#disruption-budget/disruption-budgets.ts';
import { watchBudgets } from '#disruption-budget/events/budget-watch.ts';
import { GovernedSets } from '#disruption-budget/ledger/governed-sets.ts';
import { Standings } from '#disruption-budget/ledger/standings.ts';
import { compilePattern } from '#disruption-budget/pattern/compile-pattern.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import type { Caches } from './caches.ts';

/** What disruption budgets take besides the caches. */
export interface BudgetSettings {
  readonly client: Client;
  /** The namespace that this process looks at; empty for all. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly caches: Pick<Caches, 'pods' | 'statefulSets' | 'budgets'>;
  readonly metrics: BudgetMetrics;
  /** Called once where the Role permits no ledger to be stored, with the verb that it refuses. */
  readonly onLedgerRefused?: ((verb: string) => void) | undefined;
}

/** The disruption budgets of one run of the operator. */
export interface RunningBudgets {
  readonly authority: DisruptionBudgets;
  /** Returns the budgets as the capability `name` of this process asks them before it takes pods. */
  of(name: string): GroupBudgets;
  /** Notes that the Role does not permit listing budgets: they are no part of the view (D-51). */
  deny(): void;
  /** Takes what says whether evictions can have been answered before this process was trusted with them. */
  noteTrust(isFirst: () => boolean): void;
  /** Reports whether any is in view. */
  hasAny(): boolean;
  /** Calls `wake` when what is known of budgets has changed. */
  onChange(wake: () => void): void;
  /** Leads while `work` lasts, and says what is wrong with budgets. @returns what `work` returns */
  lead<T>(term: BudgetTerm, work: () => Promise<T>): Promise<T>;
}

/** A term in which this process leads. */
export interface BudgetTerm {
  readonly term: string;
  readonly predecessor: PredecessorWait;
  readonly events: EventRecorder;
}

/** Opens the authority that rollouts, scale-downs and evictions ask; it lives as long as the process. */
export function openBudgets(settings: BudgetSettings): RunningBudgets {
  const { client, clock, log, caches, metrics } = settings;
  const { pods, statefulSets } = caches;
  const state = { isPermitted: true, isFirstTrusted: (): boolean => false };
  const inView = new BudgetsInView({
    client,
    clock,
    informer: caches.budgets,
    isPermitted: () => state.isPermitted,
    compile: compilePattern,
    onObserved: (observation) => metrics.countObserved(observation),
  });
  const sets = new GovernedSets({ client, clock, pods, statefulSets });
  const standings = new Standings({ clock, sets, watched: new WatchedPods(pods, clock) });
  const authority = new DisruptionBudgets({
    ...settings,
    pods,
    statefulSets,
    inView,
    sets,
    standings,
    count: (outcome) => metrics.countRequest(outcome),
  });
  return {
    authority,
    of: (name) => authority.of(name),
    deny: () => {
      state.isPermitted = false;
    },
    noteTrust: (isFirst) => {
      state.isFirstTrusted = isFirst;
    },
    hasAny: () => inView.list().length > 0,
    onChange: (wake) => inView.onChange(wake),
    lead: (term, work) => {
      const { ledgers } = authority;
      const watch = (events: EventRecorder): { close(): void } =>
        watchBudgets({ clock, log, events, metrics, pods, statefulSets, inView, sets, ledgers });
      return leading({ authority, watch, isFirstTrusted: state.isFirstTrusted() }, term, work);
    },
  };
}

async function leading<T>(
  {
    authority,
    watch,
    isFirstTrusted,
  }: {
    readonly authority: DisruptionBudgets;
    readonly isFirstTrusted: boolean;
    readonly watch: (events: EventRecorder) => { close(): void };
  },
  { term, predecessor, events }: BudgetTerm,
  work: () => Promise<T>,
): Promise<T> {
  const { overAt: predecessorsOverAt, ownOverAt: mayBeginAt } = predecessor;
  // Neither a process of ours nor another program can have let a pod go then, so that a ledger that is missing is empty.
  const firstUntil = isFirstTrusted ? predecessor.firstUntil : undefined;
  authority.lead({ term, predecessorsOverAt, mayBeginAt, firstUntil });
  const problems = watch(events);
  try {
    return await work();
  } finally {
    problems.close();
    authority.resign();
  }
}
