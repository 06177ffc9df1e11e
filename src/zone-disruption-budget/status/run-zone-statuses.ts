import type { Because } from '#base/because.ts';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { after, type Instant, instant, seconds } from '#base/units.ts';
import { ViewNotReadError } from '#control/consistent-read/basis.ts';
import { PlanReporter } from '#control/decision/report-plan.ts';
import { onFault, type PassResult, runController } from '#control/run-controller.ts';
import { isGivenUp } from '#control/write/unless-sent.ts';
import { heldIn } from '#disruption/decision/decide.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { objectKey, parseObjectKey } from '#kubernetes/object-key.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import {
  ApiError,
  isConflict,
  isNotFound,
  isRequestFailure,
} from '#kubernetes/transport/api-error.ts';
import type { NodeView } from '#statefulset/parse-node.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import type { ZoneBudgetView } from '../cache/zone-budget-view.ts';
import type { ZoneBudgetsInView } from '../cache/zone-budgets-in-view.ts';
import type { ZoneLedgers } from '../ledger/zone-ledgers.ts';
import type { ZoneStandings } from '../ledger/zone-standings.ts';
import { ofZoneDisruptionBudgets, type ZoneBudgetProblem } from '../problem-reasons.ts';
import { type ProblemSight, zoneBudgetProblems } from './plan-problems.ts';
import { planStatus } from './plan-status.ts';
import type { Shown } from './project-status.ts';
import type { ZoneStatusWrites } from './zone-status-writes.ts';

/** What statuses are kept up to date with. */
export interface ZoneStatusPorts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly queue: WorkQueue;
  readonly budgets: Pick<Informer<ZoneBudgetView>, 'lister' | 'onChange'>;
  readonly pods: Pick<Informer<PodView>, 'onChange'>;
  readonly statefulSets: Pick<Informer<StatefulSetView>, 'onChange'>;
  readonly nodes: Pick<Informer<NodeView>, 'onChange'>;
  readonly inView: Pick<ZoneBudgetsInView, 'get' | 'onChange'>;
  readonly ledgers: Pick<ZoneLedgers, 'of'>;
  readonly standings: Pick<ZoneStandings, 'strangers'>;
  readonly events: EventRecorder;
  readonly writes: ZoneStatusWrites;
  /** Calls `wake` when this process has given something away, or gives it free. */
  onGiven(wake: (budget: ZoneBudgetView) => void): void;
}

/** Budgets worked on at once: a pass mostly waits. */
const workers = 16;
/** How late it is shown at the most what another replica has given away, and no client has used: nothing else reports that. */
const lookAgainAfter = seconds(30);

/**
 * Writes what ledgers and pods show into the status of each budget whenever that has changed, until `signal` aborts: for the
 * process that leads. What is unknown is shown as what may not go (W-09).
 *
 * @throws when the view cannot be trusted any more (D-6)
 */
export async function runZoneStatuses(ports: ZoneStatusPorts, signal: AbortSignal): Promise<void> {
  const { queue, clock, log, events } = ports;
  const reporter = new PlanReporter({ clock, log, events, about: ofZoneDisruptionBudgets });
  wakeByChanges(ports);
  await runController(
    {
      queue,
      clock,
      workers,
      reconcile: (key, passSignal) => reconcile(key, { ...ports, reporter }, passSignal),
      ...onFault(log),
    },
    signal,
  );
}

type PassPorts = ZoneStatusPorts & { readonly reporter: PlanReporter };

async function reconcile(key: string, ports: PassPorts, signal: AbortSignal): Promise<PassResult> {
  const budget = budgetOf(key, ports);
  if (budget === undefined) {
    ports.reporter.forget(key);
    return awaitChange;
  }
  try {
    return await pass(budget, ports, signal);
  } catch (error) {
    if (isGivenUp(error, signal) || isNotFound(error)) return awaitChange;
    // Whatever changed it wakes it, too.
    if (isConflict(error)) return { kind: 'retry', retryAfter: undefined };
    if (!isRequestFailure(error) && !(error instanceof ViewNotReadError)) throw error;
    ports.log.warn('the status of a disruption budget cannot be written', {
      key,
      err: errorOf(error),
    });
    const retryAfter = error instanceof ApiError ? error.retryAfter : undefined;
    return { kind: 'retry', retryAfter };
  }
}

async function pass(
  budget: ZoneBudgetView,
  ports: PassPorts,
  signal: AbortSignal,
): Promise<PassResult> {
  const { clock, inView, writes } = ports;
  const known = inView.get(budget.uid);
  // A list of ours may be ahead of the cache, which is to show what is written over.
  if (known?.generation !== budget.generation || writes.isAwaited(budget)) return awaitChange;
  const seen = await seenOf(known, ports, signal);
  const pause = writes.pauseOf(budget);
  report(known, [...zoneBudgetProblems(seen.sight), ...(pause ? [pause.because] : [])], ports);
  const { write, lookAgainAt } = planStatus(budget.status, seen.shown);
  if (write !== undefined && pause !== undefined) {
    return { kind: 'ended', requeue: { kind: 'at', at: after(clock.now(), pause.left) } };
  }
  if (write !== undefined) await writes.store(budget, write, signal);
  const latest = after(clock.now(), lookAgainAfter);
  return { kind: 'ended', requeue: { kind: 'at', at: sooner(lookAgainAt, latest) } };
}

/** A budget as it is at one instant. */
interface Seen {
  /** What its status shows; undefined while that is unknown. */
  readonly shown: Shown | undefined;
  readonly sight: ProblemSight;
}

async function seenOf(
  budget: ZoneBudgetView,
  { clock, ledgers, standings }: ZoneStatusPorts,
  signal: AbortSignal,
): Promise<Seen> {
  const { parsed, generation } = budget;
  if (parsed.kind === 'invalid') return { shown: undefined, sight: { parsed } };
  const ledger = ledgers.of(budget, parsed.spec);
  await ledger.look(signal);
  const now = clock.now();
  const { standing, ledger: known, release } = ledger.moment(now);
  const strangers = standings.strangers(budget, parsed.spec);
  const sight = { parsed, ledger: known, standing, strangers };
  if (known.kind !== 'known') return { shown: undefined, sight };
  const held = heldIn(known.ledger, standing, release);
  return { shown: { standing, held, moment: release, generation }, sight };
}

/** Tells people what keeps the budget from its work; what lasts is reported again by the looks every 30 s. */
function report(
  budget: ZoneBudgetView,
  problems: readonly Because<ZoneBudgetProblem>[],
  { reporter }: PassPorts,
): void {
  const { namespace, name, uid } = budget;
  const set = { namespace, name, uid };
  reporter.report(
    objectKey(budget),
    problems.map((because) => ({ kind: 'hold', set, because })),
  );
}

/** Wakes whatever a change concerns, and everything once. */
function wakeByChanges(ports: ZoneStatusPorts): void {
  const { queue, budgets, pods, statefulSets, nodes, inView } = ports;
  const wakeAll = (namespace?: string): void => {
    for (const budget of budgets.lister.list()) {
      if (namespace === undefined || budget.namespace === namespace) queue.add(objectKey(budget));
    }
  };
  budgets.onChange(({ kind, object }) => {
    if (kind === 'deleted') ports.writes.forget(object.uid);
    else queue.add(objectKey(object));
  });
  pods.onChange(({ object }) => wakeAll(object.namespace));
  statefulSets.onChange(({ object }) => wakeAll(object.namespace));
  nodes.onChange((change) => {
    // The heartbeats of nodes are no news.
    if (change.kind !== 'updated' || change.old.zone !== change.object.zone) wakeAll();
  });
  inView.onChange((uids) => {
    if (uids === undefined) wakeAll();
    for (const uid of uids ?? []) {
      const budget = inView.get(uid);
      if (budget !== undefined) queue.add(objectKey(budget));
    }
  });
  ports.onGiven((budget) => queue.add(objectKey(budget)));
  wakeAll();
}

function budgetOf(key: string, { budgets }: ZoneStatusPorts): ZoneBudgetView | undefined {
  const { namespace, name } = parseObjectKey(key);
  return budgets.lister.get(namespace, name);
}

function sooner(one: Instant | undefined, other: Instant): Instant {
  return one === undefined ? other : instant(Math.min(one, other));
}

const awaitChange: PassResult = { kind: 'ended', requeue: { kind: 'await-change' } };
