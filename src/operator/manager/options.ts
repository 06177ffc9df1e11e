import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Config } from '#config/config.ts';
import type { FlagWithoutEffect } from '#config/manager-config.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import type { HttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import type { Readiness } from '#telemetry/http/readiness.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import type { MetricsRegistry } from '#telemetry/metrics.ts';

/** What one run under the name of a manager is given; `Door` is the configuration of that name. */
export interface ManagerOptions<Door> {
  readonly door: Door;
  /** What it shares with the other names. */
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricsRegistry;
  readonly metrics: OperatorMetrics;
  readonly httpMetrics: HttpServerMetrics;
  readonly readiness: Readiness;
  /** The authorised way to the API server, without any decoration. */
  readonly transport: Transport;
  /** Names this process; new at every start. */
  readonly identity: string;
}

/** Tells which flags have no effect: who reads a manifest takes each for what it says. */
export function tellWithoutEffect(log: Logger, flags: readonly FlagWithoutEffect[]): void {
  for (const { flag, why } of flags) log.warn('a flag has no effect here', { flag, why });
}

/**
 * Waits until one of `running` ends, calls `end`, on which the others end as well, and waits for these.
 *
 * @throws what the first one rejects with
 */
export async function endTogether(
  running: readonly Promise<unknown>[],
  end: () => void,
): Promise<void> {
  try {
    await Promise.race(running);
  } finally {
    end();
    await Promise.allSettled(running);
  }
}
