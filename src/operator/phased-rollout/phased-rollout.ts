import { phasedRolloutDefaults } from '#admission/custom-resource/phased-rollout-defaults.ts';
import { phasedRolloutValidation } from '#admission/custom-resource/phased-rollout-validation.ts';
import { aborted } from '#base/async/aborted.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Prometheus } from '#check/prometheus/prometheus.ts';
import type { Config } from '#config/config.ts';
import type { PhasedRolloutConfig } from '#config/phased-config.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import type { HttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import type { Readiness } from '#telemetry/http/readiness.ts';
import type { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import type { MetricsRegistry } from '#telemetry/metrics.ts';
import { decoratedClient } from '../manager/client.ts';
import { type ReconcileTerm, runLedTerms } from '../manager/led-terms.ts';
import { openWebhooks, startScrapes } from '../manager/servers.ts';
import { reconcilePhasedRollouts } from './reconcile.ts';

/** What one run under the name of the sts-phased-rollout-operator is given. */
export interface PhasedRolloutOptions {
  readonly door: PhasedRolloutConfig;
  /** What it shares with the other names. */
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricsRegistry;
  readonly metrics: OperatorMetrics;
  readonly budgetMetrics: BudgetMetrics;
  readonly httpMetrics: HttpServerMetrics;
  readonly readiness: Readiness;
  /** The authorised way to the API server, without any decoration. */
  readonly transport: Transport;
  /** Names this process; new at every start. */
  readonly identity: string;
  /** Asks Prometheus; its maker ends it. */
  readonly prometheus: Prometheus;
  /** What each term does. @default it reconciles PhasedRollouts */
  readonly reconcile?: ReconcileTerm;
}

/**
 * Runs until `signal` aborts: serves the webhooks and `/metrics`, becomes ready, and reconciles while it leads. Followers
 * serve the same.
 *
 * @throws {Error} when a server cannot start, or the Lease is lost
 */
export async function runPhasedRollout(
  options: PhasedRolloutOptions,
  signal: AbortSignal,
): Promise<void> {
  const { door, log, readiness } = options;
  tellWithoutEffect(door, log);
  const ending = new AbortController();
  const end = (): void => {
    readiness.withdraw();
    ending.abort();
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  const serving = { ...options, isReady: () => readiness.isReady() };
  const scrapes = await startScrapes(door, { ...serving, client: decoratedClient(options) });
  try {
    const running = [webhooksOf(options, ending.signal), work(options, ending.signal)];
    try {
      await Promise.race(running);
    } finally {
      end();
      await Promise.allSettled(running);
    }
  } finally {
    signal.removeEventListener('abort', end);
    await scrapes?.close();
  }
}

/** Tells which flags have no effect: who reads a manifest takes each for what it says. */
function tellWithoutEffect({ withoutEffect, webhooks }: PhasedRolloutConfig, log: Logger): void {
  for (const { flag, why } of withoutEffect) log.warn('a flag has no effect here', { flag, why });
  if (webhooks === undefined) {
    log.info('no webhooks are served', { why: 'ENABLE_WEBHOOKS is false' });
  }
}

/** Serves the webhooks, and tells that this process is ready as soon as they are trusted. */
async function webhooksOf(options: PhasedRolloutOptions, signal: AbortSignal): Promise<void> {
  const { door, config, log, readiness } = options;
  if (door.webhooks === undefined) {
    readiness.announce();
    return aborted(signal);
  }
  const client = decoratedClient(options);
  const served = [phasedRolloutDefaults(), phasedRolloutValidation()];
  const isReady = (): boolean => readiness.isReady();
  const serving = { ...options, client, webhooks: served, isReady };
  const webhooks = await openWebhooks(config, serving, signal).catch((error: unknown) => {
    if (signal.aborted) return undefined;
    throw error;
  });
  if (webhooks === undefined) return;
  log.info('webhooks served', { port: webhooks.port });
  const announced = webhooks.ready.then(() => readiness.announce());
  await Promise.all([announced, webhooks.run(signal)]);
}

function work(options: PhasedRolloutOptions, signal: AbortSignal): Promise<void> {
  const { reconcile = (term, ending) => reconcilePhasedRollouts(options, term, ending) } = options;
  return runLedTerms(options, reconcile, signal);
}
