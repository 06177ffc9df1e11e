import { atMost } from '#base/at-most.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { millis, seconds } from '#base/units.ts';
import type { Config } from '#config/config.ts';
import type { Plan } from '#control/decision.ts';
import { askPermissions, type Permissions } from '#control/optional-permissions.ts';
import { PredecessorWait } from '#control/predecessor-wait.ts';
import { runGroups } from '#control/run-groups.ts';
import { ScaleWrites } from '#control/scale-writes.ts';
import type { EvictionBudgets } from '#disruption-budget/eviction-budgets.ts';
import { boundedClient } from '#kubernetes/bounded-client.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/event-recorder.ts';
import { createEventRecorder, silentRecorder } from '#kubernetes/events.ts';
import { type LeaderElection, type Leading, LeaseLostError } from '#kubernetes/leader-election.ts';
import { createWorkQueue } from '#kubernetes/rate-limited-queue.ts';
import type { Transport } from '#kubernetes/transport.ts';
import { type Admission, type AdmissionSettings, startAdmission } from '#operator-admission.ts';
import { openBudgets, type RunningBudgets } from '#operator-budgets.ts';
import {
  type Caches,
  cachesSynced,
  createCaches,
  runCaches,
  whenViewsChange,
} from '#operator-caches.ts';
import { capabilitiesOf, referencesOf, showCapabilities } from '#operator-capabilities.ts';
import { decoratedClient } from '#operator-client.ts';
import { electionOf, runElection } from '#operator-election.ts';
import { tellMissingRules } from '#operator-role.ts';
import type { PodHttp } from '#pod-http/pod-http.ts';
import type { BudgetMetrics } from '#telemetry/budget-metrics.ts';
import type { OperatorMetrics } from '#telemetry/operator-metrics.ts';
import type { Readiness } from '#telemetry/readiness.ts';
import type { Tracing } from '#telemetry/tracing.ts';

/** What one run of the operator is given. */
export interface OperatorOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly budgetMetrics: BudgetMetrics;
  readonly readiness: Readiness;
  /** The authorised way to the API server, without any decoration. */
  readonly transport: Transport;
  readonly podHttp: PodHttp;
  /** Names this process; new at every start, so that a term of the Lease is one process's (D-50). */
  readonly identity: string;
  /** Serves the admission webhooks; absent while TLS is off. */
  readonly admission?: AdmissionSettings;
  /** Absent while nothing is traced. */
  readonly tracing?: Tracing;
  /** Given what evictions ask, which it is to be the same for as long as the operator runs. */
  readonly onEvictionBudgets?: (budgets: EvictionBudgets) => void;
  /** Told the plan of every pass over a group. */
  readonly onPlan?: (key: string, plan: Plan) => void;
}

/** Longest backoff of a group; the safety resync looks sooner. */
const longestBackoff = seconds(30);
/** Longest time that a call of a pass takes once the limiter let it go, whatever its flag says above that (D-53). */
const longestAnswer = seconds(30);
/** How long the end waits for Events that are not written yet. */
const flushPatience = seconds(2);

/**
 * Runs the operator until `signal` aborts: fills the caches, becomes ready, reconciles (PR-1). Ready is withdrawn
 * first when it stops (KW-19).
 *
 * @throws when its view of the cluster cannot be trusted any more (D-6), or a request at the start fails for good
 */
export async function runOperator(options: OperatorOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, readiness } = options;
  showCapabilities(options);
  const ending = new AbortController();
  const stop = (): void => {
    readiness.withdraw();
    ending.abort();
  };
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  const client = decoratedClient(options);
  const caches = createCaches(client, options);
  const budgets = openBudgets({
    client,
    namespace: options.config.kubernetes.namespace,
    caches,
    clock,
    log,
    metrics: options.budgetMetrics,
  });
  options.onEvictionBudgets?.(budgets.authority.evictions);
  const unreadable = new AbortController();
  const admission = startAdmission(
    { ...options, evictionBudgets: budgets.authority.evictions },
    () => decoratedClient(options),
    ending.signal,
  );
  log.info('caches syncing');
  const running = [
    ...runCaches(caches, unreadable.signal, ending.signal),
    admission.run,
    work(options, { client, caches, budgets, admission, unreadable }, ending.signal),
  ];
  try {
    await Promise.race(running);
  } finally {
    stop();
    await Promise.allSettled(running);
    budgets.authority.close();
    signal.removeEventListener('abort', stop);
  }
}

interface Parts {
  readonly client: Client;
  readonly caches: Caches;
  readonly budgets: RunningBudgets;
  readonly admission: Admission;
  /** Aborted when the Role does not permit to list budgets: they are no part of the view then (D-51). */
  readonly unreadable: AbortController;
}

interface LeadingParts extends Parts {
  readonly events: EventRecorder;
  readonly permitted: Permissions;
  readonly election: LeaderElection;
}

async function work(options: OperatorOptions, parts: Parts, signal: AbortSignal): Promise<void> {
  const { config, clock, log, metrics } = options;
  const { caches } = parts;
  const client = boundedClient(parts.client, longestAnswer);
  const proven = cachesSynced(caches, clock, signal);
  const namespace = config.kubernetes.namespace;
  const [permitted] = await Promise.all([
    askPermissions({ client, log, metrics, namespace, proven }, signal),
    proven,
    parts.admission.ready,
  ]);
  if (signal.aborted) return;
  if (!permitted.canListBudgets) {
    parts.unreadable.abort();
    parts.budgets.deny();
  }
  log.info('caches synced', {
    pods: caches.pods.lister.size,
    statefulsets: caches.statefulSets.lister.size,
  });
  const events = permitted.canCreateEvents ? recorder(client, options) : silentRecorder;
  options.readiness.announce();
  // Only now: who could not fill its caches would hold the Lease for nothing.
  const leaseClient = decoratedClient(options, false);
  const election = electionOf(options, leaseClient);
  const closed = new AbortController();
  const electing = runElection(election, options, { client: leaseClient, signal: closed.signal });
  const hasBudgets = (): boolean => parts.budgets.hasAny();
  const lacking = { client, permitted, hasBudgets, election };
  const telling = tellMissingRules(options, lacking, closed.signal);
  try {
    await lead(options, { ...parts, client, events, permitted, election }, signal);
  } finally {
    closed.abort();
    await Promise.all([electing, telling]);
    await atMost(flushPatience, events.flush(), { clock, signal: new AbortController().signal });
  }
}

/**
 * Reconciles whenever this process leads, until `signal` aborts. A process that led without a Lease, as its Role did not
 * permit one, begins anew when it can have one after all.
 *
 * @throws LeaseLostError when it led with a Lease, and may not any more
 */
async function lead(
  options: OperatorOptions,
  parts: LeadingParts,
  signal: AbortSignal,
): Promise<void> {
  const { election } = parts;
  for (;;) {
    const leading = await election.leading(signal).catch(() => undefined);
    if (leading === undefined) return;
    const working = AbortSignal.any([signal, leading.signal]);
    const isClean = await reconcile(options, { ...parts, leading }, working);
    const { state } = election;
    if (signal.aborted) return election.end({ isClean });
    if (state.kind === 'lost') {
      await election.end({ isClean });
      throw new LeaseLostError(state.because);
    }
  }
}

/** Reconciles for one term. @returns whether all that was sent is answered, so that nothing may arrive late */
async function reconcile(
  options: OperatorOptions,
  parts: LeadingParts & { readonly leading: Leading },
  signal: AbortSignal,
): Promise<boolean> {
  const { config, clock, log, metrics, identity, onPlan, tracing } = options;
  const { client, caches, events, leading, election } = parts;
  const { pods, statefulSets } = caches;
  const queue = createWorkQueue({ clock, name: 'group', maxDelay: longestBackoff });
  const references = referencesOf(options, { client, statefulSets, queue }, signal);
  const writes = new ScaleWrites(clock, statefulSets.freshness);
  const capabilities = capabilitiesOf(options, {
    client,
    pods,
    statefulSets,
    references,
    writes,
    queue,
  });
  const predecessor = new PredecessorWait({
    clock,
    predecessor: leading.predecessor,
    horizon: config.rollout.predecessorHorizon,
    startedAt: clock.monotonic(),
  });
  const shared = { client, clock, log, events, metrics, pods, statefulSets };
  const leads = (): boolean => election.leads(clock.monotonic());
  const term = leading.kind === 'leading' ? { term: leading.term } : {};
  const { authority: budgets } = parts.budgets;
  const ports = { ...shared, ...term, budgets, writes, predecessor, leads, queue, capabilities };
  const onOtherChange = (wake: () => void): void => {
    parts.budgets.onChange(wake);
    whenViewsChange(caches, wake);
  };
  const resync = config.reconcile.resync ?? millis(0);
  const told = {
    ...(onPlan !== undefined && { onPlan }),
    ...(tracing !== undefined && { tracing }),
  };
  const led = { term: term.term ?? identity, predecessor, events };
  return parts.budgets.lead(led, async () => {
    const { isSettled } = await runGroups({ ...ports, resync, onOtherChange, ...told }, signal);
    await references.ended();
    return isSettled;
  });
}

function recorder(
  client: Client,
  { clock, log, metrics, identity }: OperatorOptions,
): EventRecorder {
  return createEventRecorder({
    client,
    clock,
    logger: log,
    instance: identity,
    onRefused: (namespaces) => metrics.setPermissionRefused('create', 'events', namespaces > 0),
  });
}
