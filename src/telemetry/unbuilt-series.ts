import type { MetricsRegistry } from './metrics.ts';

const notBuilt = 'Always 0, as this version does not have zone-aware pod disruption budgets.';

const results = ['updated', 'ignored', 'invalid', 'deleted', 'delete-ignored'] as const;

/** The answers that the peer counts, with the status of each. */
const answers: readonly (readonly [reason: string, status: string])[] = [
  ['allowed', '200'],
  ['pod-not-ready', '200'],
  ['pod-not-in-scope', '200'],
  ['denied', '429'],
  ['max-unavailable-0', '403'],
  ['invalid-request', '400'],
  ['pod-not-found', '400'],
  ['cfg-not-found', '400'],
  ['min-sts-not-found', '400'],
  ['partition-not-identified', '400'],
  ['sts-no-found', '500'],
  ['err: sts-pod-status-not-determined', '500'],
];

/**
 * Declares the series of budgets, at 0: a dashboard or an alert of the peer that asks for them finds them, and their help
 * says that nothing stands behind them yet.
 */
export function declareUnbuiltSeries(registry: MetricsRegistry): void {
  const observed = registry.counter({
    name: 'rollout_operator_zpdb_configurations_observed_total',
    help: `Budgets that were seen, by what came of it. ${notBuilt}`,
    labels: ['result'],
  });
  for (const result of results) observed.add({ result }, 0);
  const requests = registry.counter({
    name: 'rollout_operator_zpdb_eviction_requests_total',
    help: `Evictions and deletions that a budget was asked about, by its answer. ${notBuilt}`,
    labels: ['reason', 'status'],
  });
  for (const [reason, status] of answers) requests.add({ reason, status }, 0);
  const inflight = registry.gauge({
    name: 'rollout_operator_zpdb_inflight_eviction_requests',
    help: `Evictions and deletions that a budget is being asked about. ${notBuilt}`,
    labels: [],
  });
  inflight.set({}, 0);
}
