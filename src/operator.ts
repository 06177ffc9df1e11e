import { type AdmissionOptions, runAdmission } from '#admission/run-admission.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { type Millis, millis, seconds } from '#base/units.ts';
import type { Config } from '#config/config.ts';
import type { Plan } from '#control/decision.ts';
import { canI } from '#kubernetes/access-review.ts';
import { layeredTransport } from '#kubernetes/api-transport.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/event-recorder.ts';
import { createEventRecorder } from '#kubernetes/events.ts';
import { createClient } from '#kubernetes/http-client.ts';
import type { Informer, InformerProblem } from '#kubernetes/informer.ts';
import { createWorkQueue } from '#kubernetes/rate-limited-queue.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { createInformer } from '#kubernetes/shared-informer.ts';
import type { Transport } from '#kubernetes/transport.ts';
import { GROUP_LABEL } from '#rollout-group/api.ts';
import { runRolloutGroups } from '#rollout-group/controller.ts';
import {
  type BudgetView,
  budgetOver,
  parseBudget,
  zoneAwarePodDisruptionBudgets,
} from '#rollout-group/foreign-budget.ts';
import { podIndexers, statefulSetIndexers } from '#rollout-group/snapshot.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import { parseStatefulSet } from '#statefulset/parse-statefulset.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { groupLabel } from '#telemetry/api-path.ts';
import type { OperatorMetrics } from '#telemetry/operator-metrics.ts';
import type { Readiness } from '#telemetry/readiness.ts';

/** What one run of the operator is given. */
export interface OperatorOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly readiness: Readiness;
  /** The authorised way to the API server, without any decoration. */
  readonly transport: Transport;
  /** Names this process; new at every start (D-8). */
  readonly identity: string;
  /** Serves the admission webhooks; absent while TLS is off. */
  readonly admission?: Pick<
    AdmissionOptions,
    'registry' | 'httpMetrics' | 'podHttp' | 'certificate' | 'host' | 'onListening'
  >;
  /** Told the plan of every pass over a group. */
  readonly onPlan?: (key: string, plan: Plan) => void;
}

/** Identifies the product to the API server (K8-26). */
const userAgent = 'rollout-operator';
/** Longest backoff of a group; the safety resync looks sooner. */
const longestBackoff = seconds(30);
/** How long the start waits to learn of budgets that may not be readable at all (KW-20). */
const budgetPatience = seconds(2);

/** How long the end waits for Events that are not written yet. */
const flushPatience = seconds(2);

interface Caches {
  readonly pods: Informer<PodView>;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly budgets: Informer<BudgetView>;
}

/**
 * Runs the operator until `signal` aborts: fills the caches, becomes ready, reconciles (PR-1). Ready is withdrawn
 * first when it stops (KW-19).
 *
 * @throws when its view of the cluster cannot be trusted any more (D-6), or a request at the start fails for good
 */
export async function runOperator(options: OperatorOptions, signal: AbortSignal): Promise<void> {
  const { log, readiness } = options;
  const ending = new AbortController();
  const stop = (): void => {
    readiness.withdraw();
    ending.abort();
  };
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  const client = decoratedClient(options);
  const caches = createCaches(client, options);
  const admission = startAdmission(options, ending.signal);
  log.info('caches syncing');
  const running = [
    caches.pods.run(ending.signal),
    caches.statefulSets.run(ending.signal),
    caches.budgets.run(ending.signal),
    admission.run,
    work(options, { client, caches, admission }, ending.signal),
  ];
  try {
    await Promise.race(running);
  } finally {
    stop();
    await Promise.allSettled(running);
    signal.removeEventListener('abort', stop);
  }
}

async function work(
  options: OperatorOptions,
  parts: { readonly client: Client; readonly caches: Caches; readonly admission: Admission },
  signal: AbortSignal,
): Promise<void> {
  const { config, clock, log, metrics, identity, onPlan } = options;
  const { client, caches } = parts;
  const [permitted] = await Promise.all([
    askPermissions(client, options, signal),
    synced(caches, clock, signal),
    parts.admission.listening,
  ]);
  if (signal.aborted) return;
  log.info('caches synced', {
    pods: caches.pods.lister.size,
    statefulsets: caches.statefulSets.lister.size,
  });
  const events = permitted.canCreateEvents ? recorder(client, options) : silentRecorder;
  options.readiness.announce();
  await runRolloutGroups(
    {
      ...caches,
      client,
      clock,
      log,
      metrics,
      events,
      identity,
      canTouchPods: permitted.canPatchPods,
      queue: createWorkQueue({ clock, name: 'rollout-group', maxDelay: longestBackoff }),
      resync: config.reconcile.resync ?? millis(0),
      budgetOver: (sets) => budgetOver(sets, caches.budgets),
      onBudgetsChange: (wake) => {
        caches.budgets.onChange(wake);
        void caches.budgets.synced.then(wake, () => undefined);
      },
      ...(onPlan !== undefined && { onPlan }),
    },
    signal,
  );
  await atMost(flushPatience, events.flush(), { clock, signal: new AbortController().signal });
}

interface Admission {
  /** Resolves once reviews are answered, at once where none are. */
  readonly listening: Promise<void>;
  /** Ends after the drain; where no webhooks are served, with `signal`. */
  readonly run: Promise<void>;
}

/** The webhooks stand before readiness, and end with a drain after it is withdrawn (S7). */
function startAdmission(options: OperatorOptions, signal: AbortSignal): Admission {
  const { admission, config, clock, log } = options;
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  if (admission === undefined) {
    resolve();
    const { promise: run, resolve: end } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => end(), { once: true });
    if (signal.aborted) end();
    return { listening, run };
  }
  const clients = {
    noDownscale: decoratedClient(options),
    prepareDownscale: decoratedClient(options),
    eviction: decoratedClient(options),
    configurations: decoratedClient(options),
  };
  const onListening = (port: number): void => {
    admission.onListening?.(port);
    resolve();
  };
  const run = runAdmission({ ...admission, config, clock, log, clients, onListening }, signal);
  // Whoever awaits `run` gets the failure; nobody may wait for what will not listen.
  run.catch(reject);
  listening.catch(() => undefined);
  return { listening, run };
}

function decoratedClient({ config, clock, log, metrics, transport }: OperatorOptions): Client {
  const { limiter, namespace, clientTimeout } = config.kubernetes;
  const layered = layeredTransport(transport, {
    cluster: {
      cluster: namespace,
      onRejected: ({ route, message }) =>
        log.warn('cluster check refused a request', { route, message }),
    },
    limit: {
      clock,
      qps: limiter?.qps ?? 0,
      burst: limiter?.burst ?? 0,
      groupOf: groupLabel,
      onLimited: (group) => metrics.countRateLimited(group),
    },
    metrics: {
      clock,
      pathOf: (path) => path,
      observe: ({ path, method, statusCode, duration }) =>
        metrics.observeRequest({
          path,
          method,
          status: statusCode === 'error' ? 'error' : Number(statusCode),
          duration,
        }),
    },
  });
  return createClient({
    transport: layered,
    clock,
    timeout: clientTimeout ?? millis(0),
    userAgent,
  });
}

function createCaches(client: Client, { config, clock, log }: OperatorOptions): Caches {
  const { namespace } = config.kubernetes;
  const common = { client, clock, namespace };
  const report = (plural: string) => (problem: InformerProblem) =>
    reportInformer(log, plural, problem);
  return {
    pods: createInformer({
      ...common,
      type: resourceTypes.pods,
      isSpecRead: false,
      project: parsePod,
      indexers: podIndexers,
      report: report('pods'),
    }),
    statefulSets: createInformer({
      ...common,
      type: resourceTypes.statefulSets,
      labelSelector: GROUP_LABEL,
      project: parseStatefulSet,
      indexers: statefulSetIndexers,
      report: report('statefulsets'),
    }),
    budgets: createInformer({
      ...common,
      type: zoneAwarePodDisruptionBudgets,
      project: parseBudget,
      indexers: {},
      isAbsentAllowed: true,
      report: report(zoneAwarePodDisruptionBudgets.plural),
    }),
  };
}

function reportInformer(log: Logger, resource: string, problem: InformerProblem): void {
  const { reason, message, cause } = problem;
  const fields = { resource, reason, err: cause instanceof Error ? cause : undefined, message };
  if (reason === 'Recovered' || reason === 'TypeAbsent') log.info('informer', fields);
  else log.warn('informer', fields);
}

async function synced(caches: Caches, clock: Clock, signal: AbortSignal): Promise<void> {
  await Promise.all([caches.pods.synced, caches.statefulSets.synced]);
  await atMost(budgetPatience, caches.budgets.synced, { clock, signal });
}

/** Waits for `promise`, but no longer than `patience`, and not beyond an abort. */
async function atMost(
  patience: Millis,
  promise: Promise<void>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const done = new AbortController();
  const waited = clock
    .sleep(patience, { signal: AbortSignal.any([signal, done.signal]) })
    .catch(() => undefined);
  await Promise.race([promise, waited]);
  done.abort();
}

interface Permissions {
  readonly canCreateEvents: boolean;
  readonly canPatchPods: boolean;
}

/** Asks once for each verb that the Role of an existing installation may lack (D-1). */
async function askPermissions(
  client: Client,
  { config, log, metrics }: OperatorOptions,
  signal: AbortSignal,
): Promise<Permissions> {
  const { namespace } = config.kubernetes;
  const may = async (verb: string, resource: string): Promise<boolean> => {
    const answer = await canI(client, { verb, group: '', resource, namespace }, { signal });
    if (answer.kind === 'allowed') return true;
    const fields = { verb, resource, namespace, why: answer.reason };
    if (answer.kind === 'unknown') {
      log.warn('cannot find out whether a verb is permitted; it is tried', fields);
      return true;
    }
    log.warn('the Role does not permit an optional verb; it is not used', fields);
    metrics.setPermissionRefused(verb, resource, true);
    return false;
  };
  const [canCreateEvents, canPatchPods] = await Promise.all([
    may('create', 'events'),
    may('patch', 'pods'),
  ]);
  return { canCreateEvents, canPatchPods };
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

const silentRecorder: EventRecorder = Object.freeze({
  record: () => undefined,
  flush: () => Promise.resolve(),
});
