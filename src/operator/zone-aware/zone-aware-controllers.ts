import { aborted } from '#base/async/aborted.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { seconds } from '#base/units.ts';
import type { Alarms } from '#check/cloudwatch/alarms.ts';
import type { Prometheus } from '#check/prometheus/prometheus.ts';
import type { Config } from '#config/config.ts';
import type { ZoneAwareConfig } from '#config/zone-aware-config.ts';
import { boundedClient } from '#kubernetes/bounded-client.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import type { HttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import type { Readiness } from '#telemetry/http/readiness.ts';
import type { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import type { UpdateMetrics } from '#telemetry/metrics/update-metrics.ts';
import type { ZoneBudgetMetrics } from '#telemetry/metrics/zone-budget-metrics.ts';
import type { MetricsRegistry } from '#telemetry/metrics.ts';
import { decoratedClient } from '../manager/client.ts';
import { runLedTerms } from '../manager/led-terms.ts';
import { openWebhooks, startScrapes } from '../manager/servers.ts';
import { showZoneBudget } from './figures.ts';
import { openZoneBudgets, type RunningZoneBudgets } from './zone-budgets.ts';
import { zoneTermOf } from './zone-term.ts';

/** What one run under the name of the zone-aware-controllers-for-k8s is given. */
export interface ZoneAwareOptions {
  readonly door: ZoneAwareConfig;
  /** What it shares with the other names. */
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricsRegistry;
  readonly metrics: OperatorMetrics;
  readonly budgetMetrics: BudgetMetrics;
  readonly updateMetrics: UpdateMetrics;
  readonly zoneBudgetMetrics: ZoneBudgetMetrics;
  readonly httpMetrics: HttpServerMetrics;
  readonly readiness: Readiness;
  /** The authorised way to the API server, without any decoration. */
  readonly transport: Transport;
  /** Names this process; new at every start. */
  readonly identity: string;
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
  for (const { flag, why } of door.withoutEffect) {
    log.warn('a flag has no effect here', { flag, why });
  }
  const ending = new AbortController();
  const untilEnd = AbortSignal.any([signal, ending.signal]);
  const serving = { ...options, isReady: () => readiness.isReady() };
  const scrapes = await startScrapes(door, { ...serving, client: decoratedClient(options) });
  const budgets = budgetsOf(options);
  try {
    const running = [
      serveWebhook(options, budgets, untilEnd),
      budgets.run(untilEnd),
      runLedTerms(
        options,
        zoneTermOf({ ...options, zoneBudgets: budgets }, door.hasUpdates),
        untilEnd,
      ),
    ];
    try {
      await Promise.race(running);
    } finally {
      readiness.withdraw();
      ending.abort();
      await Promise.allSettled(running);
    }
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

/** Serves the webhook, and tells that this process is ready once that can answer. */
async function serveWebhook(
  options: ZoneAwareOptions,
  budgets: RunningZoneBudgets,
  signal: AbortSignal,
): Promise<void> {
  const { config, door, log, readiness } = options;
  if (door.webhooks === undefined) {
    readiness.announce();
    return aborted(signal);
  }
  const serving = {
    ...options,
    client: decoratedClient(options),
    webhooks: [budgets.webhook],
    isReady: () => readiness.isReady(),
  };
  const webhooks = await openWebhooks(config, serving, signal);
  log.info('webhooks served', { port: webhooks.port });
  const announced = Promise.all([webhooks.ready, budgets.caches.synced]).then(
    () => readiness.announce(),
    // They end before they are filled where `run` of the budgets does, which tells why.
    () => undefined,
  );
  await Promise.all([announced, webhooks.run(signal)]);
}
