import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Alarms } from '#check/alarms.ts';
import type { Config } from '#config/config.ts';
import type { ZoneAwareConfig } from '#config/zone-aware-config.ts';
import type { Transport } from '#kubernetes/transport.ts';
import { decoratedClient } from '#operator-client.ts';
import { runLedTerms } from '#operator-led-terms.ts';
import { startScrapes } from '#operator-phased-servers.ts';
import { reconcileZoneAwareUpdates } from '#operator-zone-updates.ts';
import type { BudgetMetrics } from '#telemetry/budget-metrics.ts';
import type { HttpServerMetrics } from '#telemetry/http-server-metrics.ts';
import type { MetricsRegistry } from '#telemetry/metrics.ts';
import type { OperatorMetrics } from '#telemetry/operator-metrics.ts';
import type { Readiness } from '#telemetry/readiness.ts';
import type { UpdateMetrics } from '#telemetry/update-metrics.ts';

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
  readonly httpMetrics: HttpServerMetrics;
  readonly readiness: Readiness;
  /** The authorised way to the API server, without any decoration. */
  readonly transport: Transport;
  /** Names this process; new at every start. */
  readonly identity: string;
  /** Whoever made them ends them. */
  readonly alarms: Pick<Alarms, 'ask'>;
}

/**
 * Runs until `signal` aborts: serves `/metrics`, is ready, and reconciles ZoneAwareUpdates of all namespaces while it leads.
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
  const serving = { ...options, isReady: () => readiness.isReady() };
  const scrapes = await startScrapes(door, { ...serving, client: decoratedClient(options) });
  readiness.announce();
  try {
    await runLedTerms(
      options,
      (term, ending) => reconcileZoneAwareUpdates(options, term, ending),
      signal,
    );
  } finally {
    readiness.withdraw();
    await scrapes?.close();
  }
}
