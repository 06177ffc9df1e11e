import { atMost } from '#base/async/at-most.ts';
import { seconds } from '#base/units.ts';
import { jointBudgets } from '#control/budget/joint-budgets.ts';
import { groupOwners, OwnersOfSets } from '#control/watch/owners-of-sets.ts';
import { OpenDisruptions } from '#control/write/open-disruptions.ts';
import { type BudgetView, budgetView } from '#disruption-budget/cache/budget-view.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { createInformer } from '#kubernetes/informer/shared-informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import type { UpdateMetrics } from '#telemetry/metrics/update-metrics.ts';
import { updateIndexers, updateKind, zoneAwareUpdateOwners } from '#zone-aware-update/owners.ts';
import { parseUpdate, type UpdateView } from '#zone-aware-update/parse-resource.ts';
import {
  runZoneAwareUpdates,
  type UpdateControllerPorts,
} from '#zone-aware-update/run-zone-aware-updates.ts';
import { openBudgets, type RunningBudgets } from '../budgets.ts';
import type { LedTerm } from '../manager/led-terms.ts';
import { leadershipOf, predecessorOf, whileWatched } from '../manager/term-parts.ts';
import { informerParts } from '../zone-caches.ts';
import { showUpdates } from './figures.ts';
import { type ZoneUpdatePortSettings, zoneUpdatePorts } from './update-ports.ts';
import type { RunningZoneBudgets } from './zone-budgets.ts';

/** What all terms of one process share. */
export interface ZoneUpdateSettings extends ZoneUpdatePortSettings {
  readonly metrics: OperatorMetrics;
  readonly budgetMetrics: BudgetMetrics;
  readonly updateMetrics: UpdateMetrics;
  /** Names this process. */
  readonly identity: string;
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
  /** Aborted when the Role does not permit listing budgets: they are no part of the view then (D-51). */
  readonly unreadable: AbortController;
}

/** Its name to people, and to budgets. */
const name = 'zone-aware-updates';
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
  showUpdates(updates, settings.updateMetrics);
  const unreadable = new AbortController();
  return whileWatched(
    {
      watch: (until) => [
        updates.run(until),
        budgets.run(AbortSignal.any([until, unreadable.signal])),
      ],
      synced: Promise.all([updates.synced, settings.zoneBudgets.caches.synced]),
      work: (until) => work(settings, { term, caches, unreadable }, until),
    },
    signal,
  );
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
  settings: ZoneUpdateSettings,
  { term, caches }: TermParts,
  budgets: RunningBudgets,
): UpdateControllerPorts {
  const { clock, zoneBudgets } = settings;
  const { updates } = caches;
  const owners = new OwnersOfSets([groupOwners, zoneAwareUpdateOwners(updates)]);
  return {
    ...zoneUpdatePorts(settings, {
      ...term,
      caches: { ...zoneBudgets.caches, updates },
      open: new OpenDisruptions(),
    }),
    predecessor: predecessorOf(term.leading, settings),
    owners: owners.besides(updateKind),
    ...allBudgets(budgets, zoneBudgets),
    ...leadershipOf(term, clock),
  };
}

/** Returns the budgets of both kinds: a pod goes where each of them lets it. */
function allBudgets(
  budgets: RunningBudgets,
  zoneBudgets: RunningZoneBudgets,
): Pick<UpdateControllerPorts, 'budgets' | 'onBudgetChange'> {
  return {
    budgets: jointBudgets(budgets.of(name), zoneBudgets.of(name)),
    onBudgetChange: (wake) => {
      budgets.onChange(wake);
      zoneBudgets.onChange(wake);
    },
  };
}

/** Opens budgets of groups, which the Role may not permit listing (D-1). */
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
