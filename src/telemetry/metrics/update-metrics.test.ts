import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetricsRegistry } from '../metrics.ts';
import { UpdateMetrics } from './update-metrics.ts';

test('[zau 95] UpdateMetrics shows a ZoneAwareUpdate by the names of the peer, and nothing of one that is gone', async () => {
  const registry = createMetricsRegistry();
  const metrics = new UpdateMetrics(registry);
  const series = async (): Promise<readonly string[]> =>
    (await registry.expose()).split('\n').filter((line) => line.startsWith('zau_'));
  const figures = { step: 2, deleted: 4, isDryRun: false, isPaused: true };
  metrics.show('demo', 'zau', {
    ...figures,
    old: new Map([
      ['a', 3],
      ['b', 1],
    ]),
  });
  metrics.show('demo', 'zau', { ...figures, old: new Map([['a', 0]]) });
  assert.deepEqual((await series()).toSorted(), [
    'zau_dryrun_enabled{namespace="demo",zau="zau"} 0',
    'zau_paused_rollout{namespace="demo",zau="zau"} 1',
    'zau_status_deleted_replicas{namespace="demo",zau="zau"} 4',
    'zau_status_old_replicas{namespace="demo",zau="zau",zone="a"} 0',
    'zau_status_update_step{namespace="demo",zau="zau"} 2',
  ]);
  metrics.forget('demo', 'zau');
  assert.deepEqual(await series(), []);
});
