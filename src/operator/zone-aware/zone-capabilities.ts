import { aborted } from '#base/async/aborted.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Alarms } from '#check/cloudwatch/alarms.ts';
import type { Prometheus } from '#check/prometheus/prometheus.ts';
import type { Config } from '#config/config.ts';
import { type GroupBudgets, noBudgets } from '#control/budget/group-budgets.ts';
import { jointBudgets } from '#control/budget/joint-budgets.ts';
import type { Client } from '#kubernetes/client.ts';
import type { TypeSight } from '#kubernetes/informer/permitted-informer.ts';
import type { UpdateMetrics } from '#telemetry/metrics/update-metrics.ts';
import type { ZoneBudgetMetrics } from '#telemetry/metrics/zone-budget-metrics.ts';
import { updateKind, updatesOf } from '#zone-aware-update/owners.ts';
import { zoneAwareUpdatePermissions } from '#zone-aware-update/permissions.ts';
import { runZoneAwareUpdates } from '#zone-aware-update/run-zone-aware-updates.ts';
import { zoneBudgetPermissions } from '#zone-disruption-budget/permissions.ts';
import type { RunningBudgets } from '../budgets.ts';
import type { Caches, SharedZones } from '../caches.ts';
import {
  budgetsFor,
  type ResourceCapability,
  type ResourceTerm,
  standingOf,
} from '../resources.ts';
import { showUpdates, showZoneBudget } from './figures.ts';
import { zoneUpdatePorts } from './update-ports.ts';
import { openZoneBudgets, type RunningZoneBudgets } from './zone-budgets.ts';

/** What zone-aware controllers are given where they run along with others. */
export interface ZoneCapabilitySettings {
  /** Their maker ends them. */
  readonly alarms: Pick<Alarms, 'ask'>;
  readonly prometheus: Pick<Prometheus, 'read'>;
  readonly updateMetrics: UpdateMetrics;
  readonly zoneBudgetMetrics: ZoneBudgetMetrics;
}

/** What the process shares with them. */
export interface ZoneCapabilityParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly client: Client;
  /** The client of the webhook alone, so that nothing else can starve it. */
  readonly reviewClient: Client;
  readonly caches: Caches & { readonly zones: SharedZones };
  /** The budgets of the others. */
  readonly budgets: RunningBudgets;
}

/** Zone-aware controllers together with others, in one namespace. */
export interface ZoneCapabilities {
  readonly resources: readonly ResourceCapability[];
  /** The budgets of all kinds: a pod goes where each of them lets it. */
  readonly budgets: RunningBudgets;
  /** Remembers what is given away until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Its name to people, and to budgets. */
const updates = 'zone-aware-updates';

/** Opens them, as the settings of {@link openZoneCapabilities} are known. */
export type OpenZoneCapabilities = (parts: ZoneCapabilityParts) => ZoneCapabilities;

/** Opens ZoneAwareUpdates and ZoneDisruptionBudgets along with groups (D-65). */
export function openZoneCapabilities(
  settings: ZoneCapabilitySettings,
  parts: ZoneCapabilityParts,
): ZoneCapabilities {
  const { config, clock, log, client, reviewClient, caches } = parts;
  const { updateMetrics, zoneBudgetMetrics } = settings;
  const { zones } = caches;
  showUpdates(caches.updates.informer, updateMetrics);
  const zoneBudgets = openZoneBudgets({
    client,
    reviewClient,
    clock,
    log,
    ledgerNamespace: config.kubernetes.namespace,
    caches: { ...zones.caches, run: (signal) => aborted(signal) },
    count: (status, reason) => zoneBudgetMetrics.answered(status, reason),
    onBudget: (change) => showZoneBudget(change, zoneBudgetMetrics),
  });
  return {
    resources: [
      {
        name: 'zone-disruption-budgets',
        permissions: [...zoneBudgetPermissions.everywhere, ...zoneBudgetPermissions.own],
        webhooks: [zoneBudgets.webhook],
        needs: () => [zones.zoneBudgets, zones.nodes],
        // Leading them is a part of leading budgets.
        run: async (_, signal) => {
          await aborted(signal);
          return { isSettled: true };
        },
      },
      {
        name: updates,
        permissions: zoneAwareUpdatePermissions,
        webhooks: [],
        needs: () => [caches.updates, zones.nodes],
        run: (term, signal) => runUpdates(settings, { ...parts, term }, signal),
      },
    ],
    budgets: withZoneBudgets(parts.budgets, zoneBudgets, () => zones.zoneBudgets.sight),
    run: (signal) => zoneBudgets.run(signal),
  };
}

async function runUpdates(
  settings: ZoneCapabilitySettings,
  { caches, term }: ZoneCapabilityParts & { readonly term: ResourceTerm },
  signal: AbortSignal,
): Promise<{ readonly isSettled: boolean }> {
  const { informer } = caches.updates;
  const synced = Promise.all([informer.synced, caches.zones.nodes.informer.synced]);
  await Promise.race([synced.catch(() => undefined), aborted(signal)]);
  if (signal.aborted) return { isSettled: true };
  const looked = { ...caches.zones.caches, updates: informer };
  const { owners } = term;
  const ports = zoneUpdatePorts({ ...term, ...settings }, { ...term, caches: looked });
  // What else names their sets, or names them no longer, concerns them (D-63).
  owners.onChange((set) => {
    for (const each of updatesOf(informer, set)) {
      ports.queue.add(`${each.namespace}/${each.name}`);
    }
  });
  return runZoneAwareUpdates(
    {
      ...ports,
      ...standingOf(term, updateKind),
      ...budgetsFor(updates, term),
    },
    signal,
  );
}

/** Returns budgets of both kinds as one; those by zone count as far as they may be listed. */
function withZoneBudgets(
  budgets: RunningBudgets,
  zoneBudgets: RunningZoneBudgets,
  sight: () => TypeSight,
): RunningBudgets {
  return {
    ...budgets,
    of: (name) => jointBudgets(budgets.of(name), whereListed(zoneBudgets.of(name), sight)),
    onChange: (wake) => {
      budgets.onChange(wake);
      zoneBudgets.onChange(wake);
    },
    lead: (term, work) => budgets.lead(term, () => zoneBudgets.lead(term, work)),
  };
}

/** Returns the budgets where they may be listed; while that is being found out, nothing is proven, and nothing asked. */
function whereListed(budgets: GroupBudgets, sight: () => TypeSight): GroupBudgets {
  const listed = (): GroupBudgets => (sight() === 'denied' ? noBudgets : budgets);
  return {
    proof: (key) => listed().proof(key),
    look: async (key, signal) => {
      if (sight() !== 'asking') await listed().look(key, signal);
    },
    judge: (wanted, now) => listed().judge(wanted, now),
    ask: (wanted, signal) => listed().ask(wanted, signal),
    wants: (key, uids) => budgets.wants(key, uids),
    follow: (underWay) => budgets.follow(underWay),
  };
}
