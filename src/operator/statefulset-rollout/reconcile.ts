import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { type Millis, seconds } from '#base/units.ts';
import type { Config } from '#config/config.ts';
import { noBudgets } from '#control/budget/group-budgets.ts';
import { askPermissions } from '#control/optional-permissions.ts';
import { podIndexers, statefulSetIndexers } from '#control/watch/group-sets.ts';
import { groupOwners, OwnersOfSets } from '#control/watch/owners-of-sets.ts';
import { OpenDisruptions } from '#control/write/open-disruptions.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import { silentRecorder } from '#kubernetes/events/events.ts';
import { createInformer } from '#kubernetes/informer/shared-informer.ts';
import { createWorkQueue } from '#kubernetes/queue/rate-limited-queue.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import { type ResourceType, resourceTypes } from '#kubernetes/resource-type.ts';
import { parseAddressedPod } from '#statefulset/parse-addressed-pod.ts';
import { parseStatefulSet } from '#statefulset/parse-statefulset.ts';
import { limitedEvents } from '#statefulset-rollout/events/limited-events.ts';
import { usualAging } from '#statefulset-rollout/events/partial-aging.ts';
import {
  rolloutIndexers,
  rolloutKind,
  statefulsetRolloutOwners,
} from '#statefulset-rollout/owners.ts';
import { parseRollout } from '#statefulset-rollout/parse-resource.ts';
import {
  createDiscovery,
  type DiscoveryPort,
} from '#statefulset-rollout/reconcile/discovery-sight.ts';
import { parseNativeBudget } from '#statefulset-rollout/reconcile/native-budget.ts';
import {
  type RolloutControllerPorts,
  runStatefulsetRollouts,
} from '#statefulset-rollout/run-statefulset-rollouts.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import type { RolloutMetrics } from '#telemetry/metrics/rollout-metrics.ts';
import type { LedTerm } from '../manager/led-terms.ts';
import {
  flushed,
  leadershipOf,
  predecessorOf,
  recorderOf,
  whileWatched,
} from '../manager/term-parts.ts';
import { informerParts } from '../zone-caches.ts';
import { type OperatorConsul, watchesOf } from './consul.ts';
import { showRollouts } from './figures.ts';
import { type StatefulsetCaches, statefulsetPorts } from './ports.ts';
import type { RolloutOutside } from './rollout-outside.ts';

/** What all terms of one process share. */
export interface StatefulsetRolloutSettings {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly rolloutMetrics: RolloutMetrics;
  /** Names this process. */
  readonly identity: string;
  /** The only namespace that is served. @default all of them */
  readonly watchedNamespace?: string;
  readonly outside: RolloutOutside;
  /** Whether the cluster's controllers can pin pods, whatever its version. @default as its version says */
  readonly isPinAssumed?: boolean;
  /** @default no Consul is asked */
  readonly consul?: OperatorConsul | undefined;
  /** How old a partial rollout may grow; 0: that is never reported. @default a day */
  readonly partialAging?: Millis;
}

const longestBackoff = seconds(60);

/**
 * Reconciles StatefulsetRollouts for one term, until `signal` aborts.
 *
 * @returns whether all that was sent is answered, so that nothing may arrive late
 * @throws when the view of the cluster cannot be trusted any more (D-6)
 */
export async function reconcileStatefulsetRollouts(
  settings: StatefulsetRolloutSettings,
  term: LedTerm,
  signal: AbortSignal,
): Promise<boolean> {
  const caches = createCaches(settings, term.client);
  const informers = [caches.rollouts, caches.statefulSets, caches.pods, caches.budgets];
  showRollouts(caches.rollouts, settings.rolloutMetrics);
  try {
    return await whileWatched(
      {
        watch: (until) => informers.map((informer) => informer.run(until)),
        synced: Promise.all(informers.map(({ synced }) => synced)),
        work: (until) => work(settings, { term, caches }, until),
      },
      signal,
    );
  } finally {
    // The present leader shows them.
    settings.rolloutMetrics.forgetAll();
    settings.rolloutMetrics.watchQueue(undefined);
    settings.rolloutMetrics.watchConsul(undefined);
  }
}

async function work(
  settings: StatefulsetRolloutSettings,
  parts: { readonly term: LedTerm; readonly caches: StatefulsetCaches },
  signal: AbortSignal,
): Promise<boolean> {
  const { clock, log } = settings;
  const { rollouts, statefulSets, pods } = parts.caches;
  log.info('caches synced', {
    pods: pods.lister.size,
    statefulsets: statefulSets.lister.size,
    statefulsetrollouts: rollouts.lister.size,
  });
  const queue = createWorkQueue({ clock, name: 'statefulsetrollout', maxDelay: longestBackoff });
  const watches = watchesOf(settings.consul, { ...settings, queue, client: parts.term.client });
  const recorder = await openEvents(settings, parts.term.client, signal);
  const events = limitedEvents(recorder, rollouts);
  try {
    const discovery = createDiscovery(watches);
    const ports = portsOf(settings, { ...parts, events, queue, discovery });
    const { isSettled } = await runStatefulsetRollouts(ports, signal);
    return isSettled;
  } finally {
    await watches?.close();
    await flushed(events, clock);
  }
}

/** Opens the record of Events, which are written where the Role permits it (D-1). */
async function openEvents(
  settings: StatefulsetRolloutSettings,
  client: Client,
  signal: AbortSignal,
): Promise<EventRecorder> {
  const { log, metrics, watchedNamespace: namespace = '' } = settings;
  const proven = Promise.resolve();
  const permitted = await askPermissions({ client, log, metrics, namespace, proven }, signal);
  return permitted.canCreateEvents ? recorderOf(settings, client) : silentRecorder;
}

function portsOf(
  {
    config,
    clock,
    log,
    outside,
    rolloutMetrics,
    isPinAssumed = false,
    partialAging = usualAging,
  }: StatefulsetRolloutSettings,
  {
    term,
    caches,
    events,
    queue,
    discovery,
  }: {
    readonly term: LedTerm;
    readonly caches: StatefulsetCaches;
    readonly events: EventRecorder;
    readonly queue: WorkQueue;
    readonly discovery: DiscoveryPort;
  },
): RolloutControllerPorts {
  const leadership = leadershipOf(term, clock);
  const parts = {
    client: term.client,
    caches,
    events,
    queue,
    discovery,
    parsePod: parseAddressedPod,
    open: new OpenDisruptions(),
    // This process sees none: it has no ledger to write to.
    zoneBudgets: noBudgets,
    ...leadership,
  };
  const owners = new OwnersOfSets([groupOwners, statefulsetRolloutOwners(caches.rollouts)]);
  return {
    ...statefulsetPorts(
      { config, clock, log, outside, isPinAssumed, rolloutMetrics, partialAging },
      parts,
    ),
    owners: owners.besides(rolloutKind),
    predecessor: predecessorOf(term.leading, { config, clock }),
    ...leadership,
  };
}

function createCaches(
  { clock, log, watchedNamespace: namespace = '' }: StatefulsetRolloutSettings,
  client: Client,
): StatefulsetCaches {
  const settings = { client, clock, log };
  const partsOf = (
    type: ResourceType,
  ): ReturnType<typeof informerParts> & { readonly namespace?: string } => ({
    ...informerParts(settings, type),
    ...(namespace !== '' && { namespace }),
  });
  const { statefulsetRollouts, statefulSets, pods, podDisruptionBudgets } = resourceTypes;
  return {
    rollouts: createInformer({
      ...partsOf(statefulsetRollouts),
      type: statefulsetRollouts,
      project: parseRollout,
      indexers: rolloutIndexers,
      isAbsentAllowed: true,
    }),
    statefulSets: createInformer({
      ...partsOf(statefulSets),
      type: statefulSets,
      project: parseStatefulSet,
      indexers: statefulSetIndexers,
    }),
    pods: createInformer({
      ...partsOf(pods),
      type: pods,
      isSpecRead: false,
      project: parseAddressedPod,
      indexers: podIndexers,
    }),
    budgets: createInformer({
      ...partsOf(podDisruptionBudgets),
      type: podDisruptionBudgets,
      project: parseNativeBudget,
      indexers: {},
    }),
  };
}
