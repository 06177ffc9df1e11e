import type { CounterMetric, GaugeMetric, MetricsRegistry } from '../metrics.ts';

/** What became of a budget that a cache delivered: the label `result`. */
export type BudgetResult = 'updated' | 'ignored' | 'invalid' | 'deleted' | 'delete-ignored';

/** Why a question to the budgets was answered as it was: the label `reason`. */
export type RequestReason =
  // The peer's words, odd spelling and all: dashboards ask for them.
  | 'invalid-request'
  | 'pod-not-found'
  | 'pod-not-ready'
  | 'cfg-not-found'
  | 'pod-not-in-scope'
  | 'sts-no-found'
  | 'max-unavailable-0'
  | 'min-sts-not-found'
  | 'partition-not-identified'
  | 'err: sts-pod-status-not-determined'
  | 'denied'
  | 'allowed'
  // Ours, where the peer has no word.
  | 'not-determined'
  | 'overloaded';

/** How a question to the budgets was answered. */
export interface RequestOutcome {
  readonly reason: RequestReason;
  /** The code of the answer: the label `status`. */
  readonly status: 200 | 400 | 403 | 429;
}

/** What is wrong with a budget while it is. */
export type BudgetTrouble =
  /** Its newest object cannot be read. */
  | 'unreadable'
  /** Another budget selects one of its pods, too. */
  | 'overlap'
  /** As it stands it lets no pod go, whatever happens. */
  | 'never-met'
  | 'ledger-unreadable';

/** One thing that is wrong with one budget. */
export interface BudgetProblem {
  readonly namespace: string;
  readonly budget: string;
  readonly problem: BudgetTrouble;
}

type ProblemLabel = 'namespace' | 'budget' | 'problem';

/** The metrics of disruption budgets; none with labels has a series until something happens. */
export class BudgetMetrics {
  readonly #observed: CounterMetric<'result'>;
  readonly #requests: CounterMetric<'reason' | 'status'>;
  readonly #underWay: GaugeMetric<never>;
  readonly #problems: GaugeMetric<ProblemLabel>;
  /** What is shown, by all that distinguishes one from another. */
  #shown: ReadonlyMap<string, BudgetProblem> = new Map();

  /** Declares the metrics in `registry`. @throws when that was done before, which is a bug */
  constructor(registry: MetricsRegistry) {
    this.#observed = registry.counter({
      name: 'rollout_operator_zpdb_configurations_observed_total',
      help: 'ZoneAwarePodDisruptionBudgets that were seen, by what came of them.',
      labels: ['result'],
    });
    this.#requests = registry.counter({
      name: 'rollout_operator_zpdb_eviction_requests_total',
      help: 'Evictions, and disruptions by this operator, that budgets have judged, by the answer.',
      labels: ['reason', 'status'],
    });
    this.#underWay = registry.gauge({
      name: 'rollout_operator_zpdb_inflight_eviction_requests',
      help: 'Evictions that budgets are judging.',
      labels: [],
    });
    this.#problems = registry.gauge({
      name: 'rollout_operator_disruption_budget_problem',
      help: '1 for each problem of a disruption budget, while it lasts.',
      labels: ['namespace', 'budget', 'problem'],
    });
  }

  countObserved(result: BudgetResult): void {
    this.#observed.add({ result });
  }

  /** Counts a question that was answered: of a rollout or a scale-down as of an eviction. */
  countRequest({ reason, status }: RequestOutcome): void {
    this.#requests.add({ reason, status: String(status) });
  }

  /** Shows a question as under way, until what is returned is called with its answer, which it counts. */
  beginRequest(): (outcome: RequestOutcome) => void {
    this.#underWay.add({}, 1);
    return (outcome) => {
      this.#underWay.add({}, -1);
      this.countRequest(outcome);
    };
  }

  /** Shows what is wrong with budgets now, in place of what was shown before. */
  showProblems(problems: readonly BudgetProblem[]): void {
    const next = new Map(problems.map((each) => [keyOf(each), each]));
    for (const [key, each] of this.#shown) if (!next.has(key)) this.#problems.remove({ ...each });
    for (const [key, each] of next) if (!this.#shown.has(key)) this.#problems.set({ ...each }, 1);
    this.#shown = next;
  }
}

function keyOf({ namespace, budget, problem }: BudgetProblem): string {
  return `${namespace}/${budget}/${problem}`;
}
