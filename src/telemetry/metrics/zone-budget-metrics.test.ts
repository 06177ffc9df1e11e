import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetricsRegistry } from '../metrics.ts';
import { ZoneBudgetMetrics } from './zone-budget-metrics.ts';

test('[zau 95] ZoneBudgetMetrics shows a budget by the names of the peer, zone by zone, and nothing of one that is gone', async () => {
  const registry = createMetricsRegistry();
  const metrics = new ZoneBudgetMetrics(registry);
  const series = async (): Promise<readonly string[]> =>
    (await registry.expose()).split('\n').filter((line) => line.startsWith('zdb_'));
  const whole = new Map([
    ['a', 3],
    ['b', 2],
  ]);
  const budget = {
    currentHealthy: whole,
    currentUnhealthy: new Map([['b', 1]]),
    desiredHealthy: new Map([['a', 2]]),
    expectedPods: new Map(),
    disruptionsAllowed: new Map([['a', 0]]),
    isDryRun: true,
  };
  metrics.show('demo', 'zdb', budget);
  metrics.show('demo', 'zdb', { ...budget, currentHealthy: new Map([['a', 1]]) });
  metrics.answered('denied', 'DeniedByZdb');
  metrics.answered('denied', 'DeniedByZdb');
  assert.deepEqual((await series()).toSorted(), [
    'zdb_dryrun_enabled{namespace="demo",zdb="zdb"} 1',
    'zdb_eviction_status_reason{status="denied",reason="DeniedByZdb"} 2',
    'zdb_status_current_healthy{namespace="demo",zdb="zdb",zone="a"} 1',
    'zdb_status_current_unhealthy{namespace="demo",zdb="zdb",zone="b"} 1',
    'zdb_status_desired_healthy{namespace="demo",zdb="zdb",zone="a"} 2',
    'zdb_status_disruptions_allowed{namespace="demo",zdb="zdb",zone="a"} 0',
    'zdb_status_zones_unhealthy{namespace="demo",zdb="zdb"} 1',
  ]);
  metrics.forget('demo', 'zdb');
  assert.equal((await series()).length, 1);
});
