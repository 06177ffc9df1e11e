import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Config } from '#config/config.ts';
import type { StatefulsetRolloutConfig } from '#config/statefulset-config.ts';
import type { Environment } from '#kubernetes/transport/proxy.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import type { HttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import type { Readiness } from '#telemetry/http/readiness.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import type { RolloutMetrics } from '#telemetry/metrics/rollout-metrics.ts';
import type { MetricsRegistry } from '#telemetry/metrics.ts';
import { decoratedClient } from '../manager/client.ts';
import { runLedTerms } from '../manager/led-terms.ts';
import { startScrapes } from '../manager/servers.ts';
import { openConsul } from './consul.ts';
import { reconcileStatefulsetRollouts } from './reconcile.ts';
import type { RolloutOutside } from './rollout-outside.ts';

/** What one run as `statefulset-rollout` is given. */
export interface StatefulsetRolloutOptions {
  readonly door: StatefulsetRolloutConfig;
  /** What it shares with the other names. */
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricsRegistry;
  readonly metrics: OperatorMetrics;
  readonly rolloutMetrics: RolloutMetrics;
  readonly httpMetrics: HttpServerMetrics;
  readonly readiness: Readiness;
  /** The authorised way to the API server, without any decoration. */
  readonly transport: Transport;
  /** Where proxies are looked up. */
  readonly env: Environment;
  /** Names this process; new at every start. */
  readonly identity: string;
  readonly outside: RolloutOutside;
}

/**
 * Runs until `signal` aborts: serves `/metrics`, is ready at once, as a follower too, and carries StatefulsetRollouts out
 * while it leads.
 *
 * @throws {Error} when a server cannot start, or the Lease is lost
 */
export async function runStatefulsetRollout(
  options: StatefulsetRolloutOptions,
  signal: AbortSignal,
): Promise<void> {
  const { door, log, readiness } = options;
  const { watchedNamespace, isPinAssumed, partialAging } = door;
  for (const { flag, why } of door.withoutEffect) {
    log.warn('a flag has no effect here', { flag, why });
  }
  const consul = door.consul && openConsul(door.consul, options);
  const serving = { ...options, isReady: () => readiness.isReady() };
  const scrapes = await startScrapes(door, { ...serving, client: decoratedClient(options) });
  const settings = { ...options, watchedNamespace, isPinAssumed, partialAging, consul };
  const scoped = watchedNamespace === '' ? options : { ...options, scope: watchedNamespace };
  const withdraw = (): void => readiness.withdraw();
  signal.addEventListener('abort', withdraw, { once: true });
  try {
    readiness.announce();
    await runLedTerms(
      scoped,
      (term, until) => reconcileStatefulsetRollouts(settings, term, until),
      signal,
    );
  } finally {
    signal.removeEventListener('abort', withdraw);
    withdraw();
    await consul?.consul.close();
    await scrapes?.close();
  }
}
