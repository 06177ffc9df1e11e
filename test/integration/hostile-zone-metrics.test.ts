/** Hostile: how many series the status of one ZoneDisruptionBudget makes, whoever wrote it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showZoneBudget } from '#operator-zone-figures.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { ZoneBudgetMetrics } from '#telemetry/zone-budget-metrics.ts';
import { zoneBudgetView } from '#zone-disruption-budget/zone-budget-view.ts';

test('the status of one budget, of 1 MiB, makes at most 5,000 series', async () => {
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
  const series = text.split('\n').filter((line) => line.startsWith('zdb_')).length;
  assert.ok(series <= 5_000, `${series} series, ${text.length} bytes a scrape`);
});
