import { atMost } from '#base/async/at-most.ts';
import { seconds } from '#base/units.ts';
import { askPermissions } from '#control/optional-permissions.ts';
import { podIndexers, statefulSetIndexers } from '#control/watch/group-sets.ts';
import { groupOwners, OwnersOfSets } from '#control/watch/owners-of-sets.ts';
import { OpenDisruptions } from '#control/write/open-disruptions.ts';
import { type BudgetView, budgetView } from '#disruption-budget/cache/budget-view.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import { silentRecorder } from '#kubernetes/events/events.ts';
import type { Informer, InformerProblem } from '#kubernetes/informer/informer.ts';
import { createInformer } from '#kubernetes/informer/shared-informer.ts';
import { createWorkQueue } from '#kubernetes/queue/rate-limited-queue.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { phasedKind, phasedRolloutOwners } from '#phased-rollout/owners.ts';
import { parseRollout, type RolloutView } from '#phased-rollout/parse-resource.ts';
import { phasedSetIndexers, rolloutIndexers } from '#phased-rollout/reconcile/phased-indexes.ts';
import { runPhasedRollouts } from '#phased-rollout/run-phased-rollouts.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import { parseStatefulSet } from '#statefulset/parse-statefulset.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import type { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { openBudgets, type RunningBudgets } from '../budgets.ts';
import type { LedTerm } from '../manager/led-terms.ts';
import {
  flushed,
  leadershipOf,
  predecessorOf,
  recorderOf,
  whileWatched,
} from '../manager/term-parts.ts';
import { type PhasedPortSettings, phasedPorts } from './ports.ts';

/** What all terms of one process share. */
export interface PhasedSettings extends PhasedPortSettings {
  readonly metrics: OperatorMetrics;
  readonly budgetMetrics: BudgetMetrics;
  /** Names this process. */
  readonly identity: string;
}

interface PhasedCaches {
  readonly rollouts: Informer<RolloutView>;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly pods: Informer<PodView>;
  readonly budgets: Informer<BudgetView>;
}

const longestBackoff = seconds(30);
/** How long the start waits to learn of budgets that may not be readable at all (KW-20). */
const budgetPatience = seconds(2);

/**
 * Reconciles PhasedRollouts of all namespaces for one term, until `signal` aborts.
 *
 * @returns whether all that was sent is answered, so that nothing may arrive late
 * @throws when the view of the cluster cannot be trusted any more (D-6)
 */
export async function reconcilePhasedRollouts(
  settings: PhasedSettings,
  term: LedTerm,
  signal: AbortSignal,
): Promise<boolean> {
  const caches = createCaches(settings, term.client);
  const { rollouts, statefulSets, pods, budgets } = caches;
  const unreadable = new AbortController();
  return whileWatched(
    {
      watch: (until) => [
        rollouts.run(until),
        statefulSets.run(until),
        pods.run(until),
        budgets.run(AbortSignal.any([until, unreadable.signal])),
      ],
      synced: Promise.all([rollouts.synced, statefulSets.synced, pods.synced]),
      work: (until) => work(settings, { term, caches, unreadable }, until),
    },
    signal,
  );
}

/** What one term works in. */
interface TermParts {
  readonly term: LedTerm;
  readonly caches: PhasedCaches;
  /** Aborted when the Role does not permit listing budgets: they are no part of the view then (D-51). */
  readonly unreadable: AbortController;
}

/** Opens what the Role may lack the rights for (D-1). */
async function openOptional(
  settings: PhasedSettings,
  { term, caches, unreadable }: TermParts,
  signal: AbortSignal,
): Promise<{ readonly events: EventRecorder; readonly budgets: RunningBudgets }> {
  const { clock, log, metrics, budgetMetrics } = settings;
  const { client } = term;
  const proven = Promise.resolve();
  const permitted = await askPermissions({ client, log, metrics, namespace: '', proven }, signal);
  const events = permitted.canCreateEvents ? recorderOf(settings, client) : silentRecorder;
  const inAll = { client, namespace: '', caches, clock, log };
  const budgets = openBudgets({ ...inAll, metrics: budgetMetrics });
  if (permitted.canListBudgets) {
    await atMost(budgetPatience, caches.budgets.synced, { clock, signal });
  } else {
    unreadable.abort();
    budgets.deny();
  }
  return { events, budgets };
}

async function work(
  settings: PhasedSettings,
  parts: TermParts,
  signal: AbortSignal,
): Promise<boolean> {
  const { clock, log, identity } = settings;
  const { term, caches } = parts;
  const { client, leading } = term;
  const { rollouts, statefulSets, pods } = caches;
  log.info('caches synced', {
    pods: pods.lister.size,
    statefulsets: statefulSets.lister.size,
    phasedrollouts: rollouts.lister.size,
  });
  const queue = createWorkQueue({ clock, name: 'phasedrollout', maxDelay: longestBackoff });
  const { events, budgets } = await openOptional(settings, parts, signal);
  const predecessor = predecessorOf(leading, settings);
  const open = new OpenDisruptions();
  const owners = new OwnersOfSets([groupOwners, phasedRolloutOwners(rollouts, () => true)]);
  const ports = phasedPorts(settings, { client, caches, events, queue, open });
  const termPorts = {
    ...ports,
    predecessor,
    owners: owners.besides(phasedKind),
    budgets: budgets.of('phased-rollouts'),
    onBudgetChange: (wake: () => void) => budgets.onChange(wake),
    ...leadershipOf(term, clock),
  };
  const led = { term: termPorts.term ?? identity, predecessor, events };
  try {
    const { isSettled } = await budgets.lead(led, () => runPhasedRollouts(termPorts, signal));
    return isSettled;
  } finally {
    budgets.authority.close();
    await flushed(events, clock);
  }
}

function createCaches({ clock, log }: PhasedSettings, client: Client): PhasedCaches {
  const common = { client, clock };
  const report =
    (resource: string) =>
    ({ reason, message, cause }: InformerProblem): void => {
      const err = cause instanceof Error ? cause : undefined;
      log.warn('informer', { resource, reason, err, message });
    };
  return {
    rollouts: createInformer({
      ...common,
      type: resourceTypes.phasedRollouts,
      project: parseRollout,
      indexers: rolloutIndexers,
      isAbsentAllowed: true,
      report: report('phasedrollouts'),
    }),
    statefulSets: createInformer({
      ...common,
      type: resourceTypes.statefulSets,
      project: parseStatefulSet,
      indexers: { ...statefulSetIndexers, ...phasedSetIndexers },
      report: report('statefulsets'),
    }),
    budgets: createInformer({
      ...common,
      type: resourceTypes.zoneAwarePodDisruptionBudgets,
      project: budgetView,
      indexers: {},
      isAbsentAllowed: true,
      report: report(resourceTypes.zoneAwarePodDisruptionBudgets.plural),
    }),
    pods: createInformer({
      ...common,
      type: resourceTypes.pods,
      isSpecRead: false,
      project: parsePod,
      indexers: podIndexers,
      report: report('pods'),
    }),
  };
}
