import { atMost } from '#base/at-most.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { seconds } from '#base/units.ts';
import type { Alarms } from '#check/alarms.ts';
import { Credentials } from '#check/credentials.ts';
import { OpenQuestions } from '#check/open-questions.ts';
import type { Prometheus } from '#check/prometheus.ts';
import type { Config } from '#config/config.ts';
import { ConsistentReads } from '#control/consistent-reads.ts';
import { jointBudgets } from '#control/joint-budgets.ts';
import { OpenDisruptions } from '#control/open-disruptions.ts';
import { groupOwners, OwnersOfSets } from '#control/owners-of-sets.ts';
import { PodDeletions } from '#control/pod-deletions.ts';
import { PredecessorWait } from '#control/predecessor-wait.ts';
import { Refusals } from '#control/refusals.ts';
import { UnseenWrites } from '#control/unseen-writes.ts';
import { WriteAttempts } from '#control/write-attempts.ts';
import { type BudgetView, budgetView } from '#disruption-budget/budget-view.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/event-recorder.ts';
import type { Informer } from '#kubernetes/informer.ts';
import { createWorkQueue } from '#kubernetes/rate-limited-queue.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { createInformer } from '#kubernetes/shared-informer.ts';
import type { WorkQueue } from '#kubernetes/work-queue.ts';
import { openBudgets, type RunningBudgets } from '#operator-budgets.ts';
import type { LedTerm } from '#operator-led-terms.ts';
import type { RunningZoneBudgets } from '#operator-zone-budgets.ts';
import { informerParts } from '#operator-zone-caches.ts';
import type { BudgetMetrics } from '#telemetry/budget-metrics.ts';
import type { OperatorMetrics } from '#telemetry/operator-metrics.ts';
import type { UpdateMetrics } from '#telemetry/update-metrics.ts';
import { updateIndexers, updateKind, zoneAwareUpdateOwners } from '#zone-aware-update/owners.ts';
import { parseUpdate, type UpdateView } from '#zone-aware-update/parse-resource.ts';
import {
  runZoneAwareUpdates,
  type UpdateControllerPorts,
} from '#zone-aware-update/run-zone-aware-updates.ts';
import { UpdateWrites } from '#zone-aware-update/update-writes.ts';

/** What all terms of one process share. */
export interface ZoneUpdateSettings {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly budgetMetrics: BudgetMetrics;
  readonly updateMetrics: UpdateMetrics;
  /** Names this process. */
  readonly identity: string;
  /** Whoever made them ends them. */
  readonly alarms: Pick<Alarms, 'ask'>;
  readonly prometheus: Pick<Prometheus, 'read'>;
  /** Which run, and lead, as long as a term lasts. */
  readonly zoneBudgets: RunningZoneBudgets;
}

interface UpdateCaches {
  readonly updates: Informer<UpdateView>;
  readonly budgets: Informer<BudgetView>;
}

/** What one term is given, and what the Role permits in it. */
export interface ZoneTerm extends LedTerm {
  readonly events: EventRecorder;
  readonly canListBudgets: boolean;
}

/** What one term works in. */
interface TermParts {
  readonly term: ZoneTerm;
  readonly caches: UpdateCaches;
  /** Aborted when the Role does not permit to list budgets: they are no part of the view then (D-51). */
  readonly unreadable: AbortController;
}

/** Its name to people, and to budgets. */
const name = 'zone-aware-updates';
const longestBackoff = seconds(30);
/** How long the start waits to learn of budgets that may not be readable at all (KW-20). */
const budgetPatience = seconds(2);

/**
 * Reconciles ZoneAwareUpdates of all namespaces for one term, until `signal` aborts.
 *
 * @returns whether all that was sent is answered, so that nothing may arrive late
 * @throws when the view of the cluster cannot be trusted any more (D-6)
 */
export async function reconcileZoneAwareUpdates(
  settings: ZoneUpdateSettings,
  term: ZoneTerm,
  signal: AbortSignal,
): Promise<boolean> {
  const caches = createCaches(settings, term.client);
  const { updates, budgets } = caches;
  showFigures(updates, settings.updateMetrics);
  const ending = new AbortController();
  const untilEnd = AbortSignal.any([signal, ending.signal]);
  const unreadable = new AbortController();
  const watching = Promise.all([
    updates.run(untilEnd),
    budgets.run(AbortSignal.any([untilEnd, unreadable.signal])),
  ]);
  try {
    const synced = Promise.all([updates.synced, settings.zoneBudgets.caches.synced]);
    const working = synced.then(
      () => work(settings, { term, caches, unreadable }, untilEnd),
      // They end before they are filled only with the term.
      () => true,
    );
    // A view that cannot be trusted ends the term.
    return await Promise.race([working, watching.then(() => working)]);
  } finally {
    ending.abort();
    await Promise.allSettled([watching]);
  }
}

/** Shows what is stored, as long as it is. */
function showFigures(updates: UpdateCaches['updates'], metrics: UpdateMetrics): void {
  updates.onChange(({ kind, object: { namespace, name, spec, status } }) => {
    if (kind === 'deleted') {
      metrics.forget(namespace, name);
      return;
    }
    metrics.show(namespace, name, {
      step: status.updateStep,
      deleted: status.deletedReplicas,
      old: status.oldReplicas,
      isDryRun: spec.kind === 'valid' && spec.value.isDryRun,
      isPaused: status.isPaused,
    });
  });
}

async function work(
  settings: ZoneUpdateSettings,
  parts: TermParts,
  signal: AbortSignal,
): Promise<boolean> {
  const { log, identity } = settings;
  const { updates } = parts.caches;
  const { events } = parts.term;
  const { statefulSets, pods, nodes } = settings.zoneBudgets.caches;
  log.info('caches synced', {
    pods: pods.lister.size,
    statefulsets: statefulSets.lister.size,
    nodes: nodes.lister.size,
    zoneawareupdates: updates.lister.size,
  });
  const budgets = await openOptional(settings, parts, signal);
  const ports = portsOf(settings, parts, budgets);
  const led = { term: ports.term ?? identity, predecessor: ports.predecessor, events };
  try {
    const { isSettled } = await budgets.lead(led, () => runZoneAwareUpdates(ports, signal));
    return isSettled;
  } finally {
    budgets.authority.close();
  }
}

function portsOf(
  { config, clock, log, alarms, prometheus, zoneBudgets }: ZoneUpdateSettings,
  { term, caches }: TermParts,
  budgets: RunningBudgets,
): UpdateControllerPorts {
  const { client, election, leading, events } = term;
  const { updates } = caches;
  const { statefulSets, pods, nodes, zones, watched } = zoneBudgets.caches;
  const queue = createWorkQueue({ clock, name: 'zoneawareupdate', maxDelay: longestBackoff });
  const open = new OpenDisruptions();
  const owners = new OwnersOfSets([groupOwners, zoneAwareUpdateOwners(updates)]);
  const unseenUpdates = new UnseenWrites(clock, updates.freshness);
  const freshness = { pods: pods.freshness, statefulSets: statefulSets.freshness };
  return {
    client,
    clock,
    log,
    events,
    queue,
    updates,
    statefulSets,
    pods,
    nodes,
    open,
    alarms,
    prometheus,
    unseenUpdates,
    unseenSets: new UnseenWrites(clock, statefulSets.freshness),
    zones,
    reads: new ConsistentReads({ client, clock, ...freshness }),
    refusals: new Refusals(),
    watched,
    writes: new UpdateWrites({ client, clock, unseenUpdates }),
    promotions: new WriteAttempts(),
    deletions: new PodDeletions({ client, clock, log, pods: pods.freshness, open }),
    stuckAfter: config.rollout.stuckAfter,
    predecessor: new PredecessorWait({
      clock,
      predecessor: leading.predecessor,
      horizon: config.rollout.predecessorHorizon,
      startedAt: clock.monotonic(),
    }),
    owners: owners.besides(updateKind),
    ...gateParts(client, clock, queue),
    ...allBudgets(budgets, zoneBudgets),
    leads: () => election.leads(clock.monotonic()),
    ...(leading.kind === 'leading' && { term: leading.term }),
  };
}

/** What alarms and Prometheus are asked by. */
function gateParts(
  client: Client,
  clock: Clock,
  queue: WorkQueue,
): Pick<UpdateControllerPorts, 'questions' | 'credentials'> {
  const asking = { clock, onAnswer: (key: string) => queue.add(key) };
  return {
    questions: { alarm: new OpenQuestions(asking), query: new OpenQuestions(asking) },
    credentials: new Credentials(client, clock),
  };
}

/** Budgets of both kinds: a pod goes where each of them lets it. */
function allBudgets(
  budgets: RunningBudgets,
  zoneBudgets: RunningZoneBudgets,
): Pick<UpdateControllerPorts, 'budgets' | 'onBudgetChange'> {
  return {
    budgets: jointBudgets(budgets.authority.of(name), zoneBudgets.of(name)),
    onBudgetChange: (wake) => {
      budgets.onChange(wake);
      zoneBudgets.onChange(wake);
    },
  };
}

/** Opens budgets of groups, which the Role may not permit to list (D-1). */
async function openOptional(
  { clock, log, budgetMetrics, zoneBudgets }: ZoneUpdateSettings,
  { term, caches, unreadable }: TermParts,
  signal: AbortSignal,
): Promise<RunningBudgets> {
  const budgets = openBudgets({
    client: term.client,
    namespace: '',
    caches: { ...zoneBudgets.caches, ...caches },
    clock,
    log,
    metrics: budgetMetrics,
  });
  if (term.canListBudgets) {
    await atMost(budgetPatience, caches.budgets.synced, { clock, signal });
  } else {
    unreadable.abort();
    budgets.deny();
  }
  return budgets;
}

function createCaches({ clock, log }: ZoneUpdateSettings, client: Client): UpdateCaches {
  const settings = { client, clock, log };
  const { zoneAwareUpdates, zoneAwarePodDisruptionBudgets } = resourceTypes;
  return {
    updates: createInformer({
      ...informerParts(settings, zoneAwareUpdates),
      type: zoneAwareUpdates,
      project: parseUpdate,
      indexers: updateIndexers,
      isAbsentAllowed: true,
    }),
    budgets: createInformer({
      ...informerParts(settings, zoneAwarePodDisruptionBudgets),
      type: zoneAwarePodDisruptionBudgets,
      project: budgetView,
      indexers: {},
      isAbsentAllowed: true,
    }),
  };
}
