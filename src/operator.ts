import { aborted } from '#base/aborted.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { type Millis, millis, seconds } from '#base/units.ts';
import type { Config } from '#config/config.ts';
import type { Plan } from '#control/decision.ts';
import { Fence } from '#control/fence.ts';
import { podIndexers, statefulSetIndexers } from '#control/group-sets.ts';
import { askPermissions, type Permissions } from '#control/optional-permissions.ts';
import { runGroups } from '#control/run-groups.ts';
import { ScaleWrites } from '#control/scale-writes.ts';
import { layeredTransport } from '#kubernetes/api-transport.ts';
import { boundedClient } from '#kubernetes/bounded-client.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/event-recorder.ts';
import { createEventRecorder } from '#kubernetes/events.ts';
import { createClient } from '#kubernetes/http-client.ts';
import type { Informer, InformerProblem, InformerReason } from '#kubernetes/informer.ts';
import { createWorkQueue } from '#kubernetes/rate-limited-queue.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { createInformer } from '#kubernetes/shared-informer.ts';
import type { Transport } from '#kubernetes/transport.ts';
import { type Admission, type AdmissionSettings, startAdmission } from '#operator-admission.ts';
import { capabilitiesOf, referencesOf } from '#operator-capabilities.ts';
import type { PodHttp } from '#pod-http/pod-http.ts';
import { referenceIndexers } from '#replica-coordination/references.ts';
import {
  type BudgetView,
  ForeignBudgets,
  parseBudget,
  zoneAwarePodDisruptionBudgets,
} from '#rollout-group/foreign-budget.ts';
import { GROUP_LABEL } from '#statefulset/group.ts';
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
  readonly podHttp: PodHttp;
  /** Names this process; new at every start (D-8). */
  readonly identity: string;
  /** Serves the admission webhooks; absent while TLS is off. */
  readonly admission?: AdmissionSettings;
  /** Told the plan of every pass over a group. */
  readonly onPlan?: (key: string, plan: Plan) => void;
}

/** Identifies the product to the API server (K8-26). */
const userAgent = 'rollout-operator';
/** Longest backoff of a group; the safety resync looks sooner. */
const longestBackoff = seconds(30);
/** Longest time that a call of a pass takes once the limiter let it go, whatever its flag says above that (D-53). */
const longestAnswer = seconds(30);
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
  const unreadable = new AbortController();
  const admission = startAdmission(options, () => decoratedClient(options), ending.signal);
  log.info('caches syncing');
  const running = [
    caches.pods.run(ending.signal),
    caches.statefulSets.run(ending.signal),
    watchBudgets(caches.budgets, unreadable.signal, ending.signal),
    admission.run,
    work(options, { client, caches, admission, unreadable }, ending.signal),
  ];
  try {
    await Promise.race(running);
  } finally {
    stop();
    await Promise.allSettled(running);
    signal.removeEventListener('abort', stop);
  }
}

/** Runs until `signal` aborts, with a watch of budgets until `unreadable` does: what the Role denies is not asked for. */
async function watchBudgets(
  budgets: Informer<BudgetView>,
  unreadable: AbortSignal,
  signal: AbortSignal,
): Promise<void> {
  await budgets.run(AbortSignal.any([signal, unreadable]));
  await aborted(signal);
}

interface Parts {
  readonly client: Client;
  readonly caches: Caches;
  readonly admission: Admission;
  /** Aborted when the Role does not permit to list budgets: they are no part of the view then (D-51). */
  readonly unreadable: AbortController;
}

async function work(options: OperatorOptions, parts: Parts, signal: AbortSignal): Promise<void> {
  const { config, clock, log, metrics } = options;
  const { caches } = parts;
  const client = boundedClient(parts.client, longestAnswer);
  const proven = synced(caches, clock, signal);
  const namespace = config.kubernetes.namespace;
  const [permitted] = await Promise.all([
    askPermissions({ client, log, metrics, namespace, proven }, signal),
    proven,
    parts.admission.ready,
  ]);
  if (signal.aborted) return;
  if (!permitted.canListBudgets) parts.unreadable.abort();
  log.info('caches synced', {
    pods: caches.pods.lister.size,
    statefulsets: caches.statefulSets.lister.size,
  });
  const events = permitted.canCreateEvents ? recorder(client, options) : silentRecorder;
  options.readiness.announce();
  await reconcile(options, { client, caches, events, permitted }, signal);
  await atMost(flushPatience, events.flush(), { clock, signal: new AbortController().signal });
}

/** Reconciles groups until `signal` aborts, and all that was begun has ended. */
async function reconcile(
  options: OperatorOptions,
  parts: Pick<Parts, 'client' | 'caches'> & {
    readonly events: EventRecorder;
    readonly permitted: Permissions;
  },
  signal: AbortSignal,
): Promise<void> {
  const { config, clock, log, metrics, onPlan } = options;
  const { client, caches, events, permitted } = parts;
  const { pods, statefulSets } = caches;
  const queue = createWorkQueue({ clock, name: 'group', maxDelay: longestBackoff });
  const references = referencesOf(options, { client, statefulSets, queue }, signal);
  const isPermitted = permitted.canListBudgets;
  const budgets = new ForeignBudgets({ client, clock, informer: caches.budgets, isPermitted });
  const writes = new ScaleWrites(clock, statefulSets.freshness);
  const capabilities = capabilitiesOf(options, {
    client,
    pods,
    statefulSets,
    references,
    writes,
    queue,
    budgetOver: (sets) => budgets.over(sets),
  });
  const { identity } = options;
  const canTouchPods = permitted.canPatchPods;
  const fence = new Fence({ client, clock, identity, pods: pods.freshness, canTouchPods });
  const shared = { client, clock, log, events, metrics, pods, statefulSets };
  const ports = { ...shared, budgets, fence, writes, queue, capabilities };
  const onOtherChange = (wake: () => void): void => whenOthersChange(caches, wake);
  const resync = config.reconcile.resync ?? millis(0);
  const told = onPlan === undefined ? {} : { onPlan };
  await runGroups({ ...ports, resync, onOtherChange, ...told }, signal);
  await references.ended();
}

/** Groups are looked at anew when budgets change, and when a view begins or ceases to be kept up to date. */
function whenOthersChange({ pods, statefulSets, budgets }: Caches, wake: () => void): void {
  budgets.onChange(() => wake());
  for (const informer of [pods, statefulSets, budgets]) informer.onState(wake);
}

function decoratedClient({ config, clock, log, metrics, transport }: OperatorOptions): Client {
  const { limiter, namespace, clientTimeout } = config.kubernetes;
  const layered = layeredTransport(transport, {
    cluster: {
      cluster: namespace,
      onRejected: ({ route, message }) => {
        log.warn('cluster check refused a request', { route, message });
        metrics.countClusterRejection(route, namespace);
      },
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

function createCaches(client: Client, { config, clock, log, metrics }: OperatorOptions): Caches {
  const { namespace } = config.kubernetes;
  const common = { client, clock, namespace };
  const report = (plural: string) => (problem: InformerProblem) =>
    reportInformer({ log, metrics }, plural, problem);
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
      indexers: { ...statefulSetIndexers, ...referenceIndexers },
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

function reportInformer(
  { log, metrics }: Pick<OperatorOptions, 'log' | 'metrics'>,
  resource: string,
  { reason, message, cause }: InformerProblem,
): void {
  const isStale = reason === 'ViewNotFresh';
  if (isStale || reason === 'ViewFresh') metrics.setViewNotFresh(resource, isStale);
  const fields = { resource, reason, err: cause instanceof Error ? cause : undefined, message };
  if (quietReasons.has(reason)) log.info('informer', fields);
  else log.warn('informer', fields);
}

/** What an informer reports that needs nobody's attention. */
const quietReasons: ReadonlySet<InformerReason> = new Set(['Recovered', 'TypeAbsent', 'ViewFresh']);

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
