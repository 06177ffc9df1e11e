import { phasedRolloutDefaults } from '#admission/custom-resource/phased-rollout-defaults.ts';
import { phasedRolloutValidation } from '#admission/custom-resource/phased-rollout-validation.ts';
import type { Prometheus } from '#check/prometheus/prometheus.ts';
import type { PhasedRolloutConfig } from '#config/phased-config.ts';
import type { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { decoratedClient } from '../manager/client.ts';
import { type ReconcileTerm, runLedTerms } from '../manager/led-terms.ts';
import { endTogether, type ManagerOptions, tellWithoutEffect } from '../manager/options.ts';
import { startScrapes } from '../manager/servers.ts';
import { serveWebhooks } from '../manager/webhooks.ts';
import { reconcilePhasedRollouts } from './reconcile.ts';

/** What one run under the name of the sts-phased-rollout-operator is given. */
export interface PhasedRolloutOptions extends ManagerOptions<PhasedRolloutConfig> {
  readonly budgetMetrics: BudgetMetrics;
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
  tellWithoutEffect(log, door.withoutEffect);
  if (door.webhooks === undefined) {
    log.info('no webhooks are served', { why: 'ENABLE_WEBHOOKS is false' });
  }
  const ending = new AbortController();
  const end = (): void => {
    readiness.withdraw();
    ending.abort();
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  const serving = { ...options, isReady: () => readiness.isReady() };
  const scrapes = await startScrapes(door, { ...serving, client: decoratedClient(options) });
  const webhooks = [phasedRolloutDefaults(), phasedRolloutValidation()];
  try {
    const served = serveWebhooks(options, { webhooks }, ending.signal);
    await endTogether([served, work(options, ending.signal)], end);
  } finally {
    signal.removeEventListener('abort', end);
    await scrapes?.close();
  }
}

function work(options: PhasedRolloutOptions, signal: AbortSignal): Promise<void> {
  const { reconcile = (term, ending) => reconcilePhasedRollouts(options, term, ending) } = options;
  return runLedTerms(options, reconcile, signal);
}
