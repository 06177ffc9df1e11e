import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { instant, type Millis, millis, seconds } from '#base/units.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { createMetricsRegistry } from '../metrics.ts';
import { type RolloutFigures, RolloutMetrics } from './rollout-metrics.ts';

const T0 = instant(1_700_000_000_000);
const db = { namespace: 'demo', name: 'db' };
const figures: RolloutFigures = {
  phase: 'RolloutDone',
  requested: 50,
  deployed: 50,
  replicas: { total: 4, target: 2, updated: 3, ready: 4, in_flight: 0 },
  leaked: 1,
  partialSince: instant(T0 - 60_000),
};

interface Opened {
  readonly metrics: RolloutMetrics;
  readonly clock: ManualClock;
  /** Series whose names begin like that, without the prefix of all. */
  readonly series: (start?: string) => Promise<readonly string[]>;
}

function opened(): Opened {
  const registry = createMetricsRegistry();
  const clock = new ManualClock(T0);
  const metrics = new RolloutMetrics(registry, { clock, phases: ['RollingOut', 'RolloutDone'] });
  const prefix = 'statefulset_rollout_';
  const series = async (start = ''): Promise<readonly string[]> =>
    (await registry.expose())
      .split('\n')
      .filter((line) => line.startsWith(`${prefix}${start}`))
      // What has no labels is there from the beginning.
      .filter((line) => !/^\w+(?:\{le=.*\})? 0$/.test(line))
      .map((line) => line.slice(prefix.length));
  return { metrics, clock, series };
}

describe('RolloutMetrics', () => {
  test('shows a StatefulsetRollout by the published names [G-1, G-2]', async () => {
    const { metrics, series } = opened();
    metrics.show(db, figures);
    const of = 'namespace="demo",name="db"';
    assert.deepEqual((await series()).toSorted(), [
      `leaked_replicas{${of}} 1`,
      `partial_age_seconds{${of}} 60`,
      `percent_deployed{${of}} 50`,
      `percent_requested{${of}} 50`,
      `phase{${of},phase="RollingOut"} 0`,
      `phase{${of},phase="RolloutDone"} 1`,
      `replicas{${of},state="in_flight"} 0`,
      `replicas{${of},state="ready"} 4`,
      `replicas{${of},state="target"} 2`,
      `replicas{${of},state="total"} 4`,
      `replicas{${of},state="updated"} 3`,
    ]);
  });

  test('lets the age of a partial rollout grow by itself, and go with the last old pod [G-2]', async () => {
    const { metrics, clock, series } = opened();
    metrics.show(db, figures);
    await series('partial_age');
    clock.advance(seconds(30));
    assert.deepEqual(await series('partial_age'), [
      'partial_age_seconds{namespace="demo",name="db"} 90',
    ]);
    metrics.show(db, { ...figures, partialSince: undefined });
    assert.deepEqual(await series('partial_age'), []);
  });

  test('shows no longer what is not known any more', async () => {
    const { metrics, series } = opened();
    metrics.show(db, { ...figures, replicas: { service_discovery: 3 } });
    assert.equal((await series('replicas')).length, 1);
    metrics.show(db, { ...figures, replicas: {}, requested: undefined });
    assert.deepEqual(await series('replicas'), []);
    assert.deepEqual(await series('percent_requested'), []);
  });

  test('counts what is done, and how long it takes [G-3, G-4, G-5]', async () => {
    const { metrics, series } = opened();
    metrics.evicted(db, 'accepted');
    metrics.evicted(db, 'budget');
    metrics.batchSent(2);
    metrics.batchSent(0);
    metrics.setSlots(db, 2);
    metrics.completed(db, { result: 'done', isRollback: true, duration: seconds(90) });
    metrics.completed(db, { result: 'failed', isRollback: false, duration: undefined });
    metrics.rotated(db, seconds(12));
    metrics.reconciled(db, 'ended', millis(20));
    metrics.reconciled(db, 'failed', millis(20));
    const of = 'namespace="demo",name="db"';
    const found = (await series()).filter((line) => !line.includes('_bucket'));
    assert.deepEqual(found.toSorted(), [
      `budget_slots{${of}} 2`,
      `completed_total{${of},result="done",rollback="true"} 1`,
      `completed_total{${of},result="failed",rollback="false"} 1`,
      `duration_seconds_count{${of},result="done"} 1`,
      `duration_seconds_sum{${of},result="done"} 90`,
      'eviction_batch_size_count 1',
      'eviction_batch_size_sum 2',
      `evictions_total{${of},result="accepted"} 1`,
      `evictions_total{${of},result="budget"} 1`,
      `pod_rotation_seconds_count{${of}} 1`,
      `pod_rotation_seconds_sum{${of}} 12`,
      `reconcile_duration_seconds_count{${of}} 2`,
      `reconcile_duration_seconds_sum{${of}} 0.04`,
      `reconcile_errors_total{${of}} 1`,
      `reconcile_total{${of},outcome="ended"} 1`,
      `reconcile_total{${of},outcome="failed"} 1`,
    ]);
  });

  test('asks how long the queue is when a user looks, and not of one that is gone [G-5]', async () => {
    const { metrics, series } = opened();
    let depth = 3;
    metrics.watchQueue(() => depth);
    assert.deepEqual(await series('queue'), ['queue_depth 3']);
    depth = 5;
    assert.deepEqual(await series('queue'), ['queue_depth 5']);
    metrics.watchQueue(undefined);
    assert.deepEqual(await series('queue'), []);
  });

  test('counts what goes to Slack, to Consul and back to the receiver [G-6]', async () => {
    const { metrics, series } = opened();
    metrics.slackCalled('chat.update', 'ok');
    metrics.slackLimited();
    metrics.consulAsked('ok');
    let age: Millis | undefined = seconds(7);
    metrics.watchConsul(() => age);
    metrics.callbackAttempted('delivered');
    assert.deepEqual((await series()).toSorted(), [
      'callback_attempts_total{result="delivered"} 1',
      'consul_requests_total{result="ok"} 1',
      'consul_snapshot_age_seconds 7',
      'slack_rate_limited_total 1',
      'slack_requests_total{method="chat.update",result="ok"} 1',
    ]);
    age = undefined;
    assert.deepEqual(await series('consul_snapshot'), []);
    age = seconds(8);
    assert.deepEqual(await series('consul_snapshot'), ['consul_snapshot_age_seconds 8']);
    metrics.watchConsul(undefined);
    assert.deepEqual(await series('consul_snapshot'), []);
  });

  test('has no series of one that is gone, and those of the others [G-7]', async () => {
    const { metrics, series } = opened();
    const other = { namespace: 'demo', name: 'other' };
    for (const each of [db, other]) {
      metrics.show(each, { ...figures, replicas: { ...figures.replicas, service_discovery: 1 } });
      metrics.setSlots(each, 1);
      metrics.evicted(each, 'gone');
      metrics.completed(each, { result: 'done', isRollback: false, duration: seconds(1) });
      metrics.rotated(each, seconds(1));
      metrics.reconciled(each, 'faulty', millis(1));
    }
    const all = await series();
    metrics.forget(db);
    const left = await series();
    assert.deepEqual(
      left.filter((line) => line.includes('name="db"')),
      [],
    );
    assert.deepEqual(
      left,
      all.filter((line) => line.includes('name="other"')),
    );
    metrics.forgetAll();
    assert.deepEqual(await series(), []);
  });
});
