import type { StatefulsetRolloutConfig } from '#config/statefulset-config.ts';
import type { Environment } from '#kubernetes/transport/proxy.ts';
import type { RolloutMetrics } from '#telemetry/metrics/rollout-metrics.ts';
import { decoratedClient } from '../manager/client.ts';
import { runLedTerms } from '../manager/led-terms.ts';
import { type ManagerOptions, tellWithoutEffect } from '../manager/options.ts';
import { startScrapes } from '../manager/servers.ts';
import { openConsul } from './consul.ts';
import { reconcileStatefulsetRollouts } from './reconcile.ts';
import type { RolloutOutside } from './rollout-outside.ts';

/** What one run as `statefulset-rollout` is given. */
export interface StatefulsetRolloutOptions extends ManagerOptions<StatefulsetRolloutConfig> {
  readonly rolloutMetrics: RolloutMetrics;
  /** Where proxies are looked up. */
  readonly env: Environment;
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
  tellWithoutEffect(log, door.withoutEffect);
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
