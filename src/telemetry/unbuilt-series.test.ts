import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetricsRegistry } from './metrics.ts';
import { declareUnbuiltSeries } from './unbuilt-series.ts';

test('declareUnbuiltSeries() has every series of budgets that the peer has, at 0, and says why', async () => {
  const registry = createMetricsRegistry();
  declareUnbuiltSeries(registry);
  const lines = (await registry.expose()).trimEnd().split('\n');
  const requests = 'rollout_operator_zpdb_eviction_requests_total';
  const observed = 'rollout_operator_zpdb_configurations_observed_total';
  assert.deepEqual(
    lines.filter((line) => !line.startsWith('#')),
    [
      `${observed}{result="updated"} 0`,
      `${observed}{result="ignored"} 0`,
      `${observed}{result="invalid"} 0`,
      `${observed}{result="deleted"} 0`,
      `${observed}{result="delete-ignored"} 0`,
      `${requests}{reason="allowed",status="200"} 0`,
      `${requests}{reason="pod-not-ready",status="200"} 0`,
      `${requests}{reason="pod-not-in-scope",status="200"} 0`,
      `${requests}{reason="denied",status="429"} 0`,
      `${requests}{reason="max-unavailable-0",status="403"} 0`,
      `${requests}{reason="invalid-request",status="400"} 0`,
      `${requests}{reason="pod-not-found",status="400"} 0`,
      `${requests}{reason="cfg-not-found",status="400"} 0`,
      `${requests}{reason="min-sts-not-found",status="400"} 0`,
      `${requests}{reason="partition-not-identified",status="400"} 0`,
      `${requests}{reason="sts-no-found",status="500"} 0`,
      `${requests}{reason="err: sts-pod-status-not-determined",status="500"} 0`,
      'rollout_operator_zpdb_inflight_eviction_requests 0',
    ],
  );
  const helps = lines.filter((line) => line.startsWith('# HELP'));
  assert.equal(helps.length, 3);
  for (const help of helps) assert.match(help, /does not have zone-aware pod disruption budgets/);
});
