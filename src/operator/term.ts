import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { millis, seconds } from '#base/units.ts';
import type { Config } from '#config/config.ts';
import type { Plan } from '#control/decision/decision.ts';
import type { PredecessorWait } from '#control/plan/predecessor-wait.ts';
import { type GroupPorts, runGroups } from '#control/run-groups.ts';
import { groupKind, type OwnersOfSets } from '#control/watch/owners-of-sets.ts';
import { OpenDisruptions } from '#control/write/open-disruptions.ts';
import { ScaleWrites } from '#control/write/scale-writes.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { LeaderElection, Leading } from '#kubernetes/leader-election/leader-election.ts';
import { createWorkQueue } from '#kubernetes/queue/rate-limited-queue.ts';
import type { PodHttp } from '#pod-http/pod-http.ts';
import { groupKeyOf } from '#statefulset/group.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import type { Tracing } from '#telemetry/tracing/tracing.ts';
import type { RunningBudgets } from './budgets.ts';
import { type Caches, whenViewsChange } from './caches.ts';
import { capabilitiesOf, referencesOf } from './capabilities.ts';
import { leadershipOf, predecessorOf } from './manager/term-parts.ts';
import { type ResourceCapability, type ResourceTerm, standingOf } from './resources.ts';

/** What one term of the operator is given. */
export interface TermParts {
  readonly client: Client;
  readonly caches: Caches;
  readonly owners: OwnersOfSets;
  readonly budgets: RunningBudgets;
  readonly events: EventRecorder;
  readonly election: LeaderElection;
  readonly leading: Leading;
}

/** What all terms of one run share. */
export interface TermSettings {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly podHttp: PodHttp;
  /** Names this process; new at every start, so that a term of the Lease is one process's (D-50). */
  readonly identity: string;
  /** Absent while nothing is traced. */
  readonly tracing?: Tracing;
  /** Called with the plan of every pass over a group. */
  readonly onPlan?: (key: string, plan: Plan) => void;
  /** What else is reconciled along with groups. @default nothing */
  readonly resources?: readonly ResourceCapability[];
}

type Run = (signal: AbortSignal) => Promise<{ readonly isSettled: boolean }>;

/** Longest backoff of a group; the safety resync looks sooner. */
const longestBackoff = seconds(30);

/**
 * Reconciles for one term: groups, and whatever else runs along with them under the same budgets.
 *
 * @returns whether all that was sent is answered, so that nothing may arrive late
 */
export async function reconcileTerm(
  options: TermSettings,
  parts: TermParts,
  signal: AbortSignal,
): Promise<boolean> {
  const { config, clock, log, identity, resources = [] } = options;
  const { budgets, events, leading } = parts;
  const startedAt = clock.monotonic();
  const newPredecessorWait = (): PredecessorWait => predecessorOf(leading, options, startedAt);
  const term: ResourceTerm = {
    ...parts,
    config,
    clock,
    log,
    open: new OpenDisruptions(),
    newPredecessorWait,
    ...leadershipOf(parts, clock),
  };
  const led = { term: term.term ?? identity, predecessor: newPredecessorWait(), events };
  // Groups last: what the others have under way is known before anything is asked of a budget.
  const runs = [
    ...resources.map(
      (each): Run =>
        (ending) =>
          each.run(term, ending),
    ),
    (ending: AbortSignal) => reconcileGroups(options, term, ending),
  ];
  return budgets.lead(led, () => together(runs, signal));
}

async function reconcileGroups(
  options: TermSettings,
  term: ResourceTerm,
  signal: AbortSignal,
): Promise<{ readonly isSettled: boolean }> {
  const { config, clock, log, metrics, onPlan, tracing } = options;
  const { client, caches, events, owners, open } = term;
  const { pods, statefulSets } = caches;
  const queue = createWorkQueue({ clock, name: 'group', maxDelay: longestBackoff });
  const references = referencesOf(options, { client, statefulSets, queue }, signal);
  const writes = new ScaleWrites(clock, statefulSets.freshness);
  const shared = { client, pods, statefulSets, writes, queue };
  const ports: GroupPorts = {
    ...shared,
    clock,
    log,
    events,
    metrics,
    open,
    capabilities: capabilitiesOf(options, { ...shared, references }),
    budgets: term.budgets.of('rollout-groups'),
    ...standingOf(term, groupKind),
    resync: config.reconcile.resync ?? millis(0),
    onOtherChange: (wake) => {
      term.budgets.onChange(wake);
      whenViewsChange(caches, wake);
      owners.onState(wake);
    },
    ...(onPlan !== undefined && { onPlan }),
    ...(tracing !== undefined && { tracing }),
  };
  owners.onChange(({ namespace, name }) => {
    const set = statefulSets.lister.get(namespace, name);
    const key = set === undefined ? undefined : groupKeyOf(set);
    if (key !== undefined) queue.add(key);
  });
  const settled = await runGroups(ports, signal);
  await references.ended();
  return settled;
}

/** Runs all of `runs` until `signal` aborts; one that fails ends the others. @returns whether each of them is settled */
async function together(runs: readonly Run[], signal: AbortSignal): Promise<boolean> {
  const failed = new AbortController();
  const ending = AbortSignal.any([signal, failed.signal]);
  const running = runs.map((run) => run(ending));
  try {
    const ends = await Promise.all(running);
    return ends.every(({ isSettled }) => isSettled);
  } finally {
    failed.abort();
    await Promise.allSettled(running);
  }
}
