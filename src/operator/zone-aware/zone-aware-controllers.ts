import { seconds } from '#base/units.ts';
import type { Alarms } from '#check/cloudwatch/alarms.ts';
import type { Prometheus } from '#check/prometheus/prometheus.ts';
import type { ZoneAwareConfig } from '#config/zone-aware-config.ts';
import { boundedClient } from '#kubernetes/bounded-client.ts';
import type { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import type { UpdateMetrics } from '#telemetry/metrics/update-metrics.ts';
import type { ZoneBudgetMetrics } from '#telemetry/metrics/zone-budget-metrics.ts';
import { decoratedClient } from '../manager/client.ts';
import { runLedTerms } from '../manager/led-terms.ts';
import { endTogether, type ManagerOptions, tellWithoutEffect } from '../manager/options.ts';
import { startScrapes } from '../manager/servers.ts';
import { serveWebhooks } from '../manager/webhooks.ts';
import { showZoneBudget } from './figures.ts';
import { openZoneBudgets, type RunningZoneBudgets } from './zone-budgets.ts';
import { zoneTermOf } from './zone-term.ts';

/** What one run under the name of the zone-aware-controllers-for-k8s is given. */
export interface ZoneAwareOptions extends ManagerOptions<ZoneAwareConfig> {
  readonly budgetMetrics: BudgetMetrics;
  readonly updateMetrics: UpdateMetrics;
  readonly zoneBudgetMetrics: ZoneBudgetMetrics;
  /** Their maker ends them. */
  readonly alarms: Pick<Alarms, 'ask'>;
  readonly prometheus: Pick<Prometheus, 'read'>;
}

/** Longest time that a call takes once the limiter let it go (D-53). */
const longestAnswer = seconds(30);

/**
 * Runs until `signal` aborts: serves `/metrics`, and where ZoneDisruptionBudgets are wanted the webhook for evictions, which every
 * replica does; keeps their statuses, and carries ZoneAwareUpdates out, while it leads.
 *
 * @throws {Error} when a server cannot start, or the Lease is lost
 */
export async function runZoneAwareControllers(
  options: ZoneAwareOptions,
  signal: AbortSignal,
): Promise<void> {
  const { door, log, readiness } = options;
  tellWithoutEffect(log, door.withoutEffect);
  const ending = new AbortController();
  const untilEnd = AbortSignal.any([signal, ending.signal]);
  const serving = { ...options, isReady: () => readiness.isReady() };
  const scrapes = await startScrapes(door, { ...serving, client: decoratedClient(options) });
  const budgets = budgetsOf(options);
  const webhooks = [budgets.webhook];
  const end = (): void => {
    readiness.withdraw();
    ending.abort();
  };
  try {
    const running = [
      serveWebhooks(options, { webhooks, filled: budgets.caches.synced }, untilEnd),
      budgets.run(untilEnd),
      runLedTerms(
        options,
        zoneTermOf({ ...options, zoneBudgets: budgets }, door.hasUpdates),
        untilEnd,
      ),
    ];
    await endTogether(running, end);
  } finally {
    await scrapes?.close();
  }
}

/** Returns the budgets, which are obeyed also by a process that only carries updates out; then another one serves them. */
function budgetsOf(options: ZoneAwareOptions): RunningZoneBudgets {
  const { door, config, clock, log, zoneBudgetMetrics: metrics } = options;
  const isServed = door.webhooks !== undefined;
  return openZoneBudgets({
    client: boundedClient(decoratedClient(options), longestAnswer),
    reviewClient: decoratedClient(options),
    ledgerNamespace: config.kubernetes.namespace,
    clock,
    log,
    count: (status, reason) => metrics.answered(status, reason),
    ...(isServed && { onBudget: (change) => showZoneBudget(change, metrics) }),
    areStatusesKept: isServed,
  });
}
