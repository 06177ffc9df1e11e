/** Hostile: how many series the status of one ZoneDisruptionBudget makes, whichever client wrote it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showZoneBudget } from '#operator/zone-aware/figures.ts';
import { UpdateMetrics } from '#telemetry/metrics/update-metrics.ts';
import { ZoneBudgetMetrics } from '#telemetry/metrics/zone-budget-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { zoneBudgetView } from '#zone-disruption-budget/cache/zone-budget-view.ts';

test('the status of one budget, of 1 MiB, makes 101 series a figure', async () => {
  const zones = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`z${at}`, 1]));
  const body = {
    metadata: { namespace: 'demo', name: 'zdb', uid: 'u', resourceVersion: '1', generation: 1 },
    spec: { selector: {}, maxUnavailable: 'nonsense' },
    status: {
      disruptionsAllowed: zones,
      currentHealthy: zones,
      currentUnhealthy: zones,
      desiredHealthy: zones,
      expectedPods: zones,
    },
  };
  assert.ok(JSON.stringify(body).length < 1_100_000, `${JSON.stringify(body).length}`);
  const registry = createMetricsRegistry();
  const metrics = new ZoneBudgetMetrics(registry);
  showZoneBudget({ kind: 'added', object: zoneBudgetView(body) }, metrics);
  const text = await registry.expose();
  const series = text.split('\n').filter((line) => line.startsWith('zdb_'));
  assert.equal(
    series.length,
    5 * 101 + 2,
    `${series.length} series, ${text.length} bytes a scrape`,
  );
  const others = series.filter((line) => line.endsWith('zone="other"} 19900'));
  assert.equal(others.length, 5);
});

test('the status of one update makes 101 series of old replicas', async () => {
  const registry = createMetricsRegistry();
  const metrics = new UpdateMetrics(registry);
  const old = new Map(Array.from({ length: 20_000 }, (_, at) => [`z${at}`, 1]));
  metrics.show('demo', 'zau', { step: 1, deleted: 0, old, isDryRun: false, isPaused: false });
  const shown = async (): Promise<readonly string[]> =>
    (await registry.expose()).split('\n').filter((line) => line.startsWith('zau_status_old'));
  assert.equal((await shown()).length, 101);
  metrics.forget('demo', 'zau');
  assert.equal((await shown()).length, 0);
});
