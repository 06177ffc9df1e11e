/** Metrics of StatefulsetRollouts, on the embedded cluster. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { type PercentRun, PercentStage } from './percent-stage.ts';

async function settled(): Promise<{ readonly stage: PercentStage; readonly run: PercentRun }> {
  const stage = await PercentStage.open();
  const run = stage.start();
  await stage.create('db:1');
  await stage.ended();
  return { stage, run };
}

test('a rollout shows its phase, its percentage and its pods, and counts what is done [G-1…G-5]', async () => {
  const { stage, run } = await settled();
  await stage.edit({ percent: 50, statefulset: stage.carried('db:2') });
  await stage.until('two have gone', () => stage.evictions().length === 2);
  await stage.env.clock.advance(seconds(1));
  const during = await run.series();
  assert.equal(during.get('phase{phase="WaitingForReady"}'), 1);
  assert.equal(during.get('phase{phase="RolloutDone"}'), 0);
  assert.equal(during.get('budget_slots'), 0);
  assert.equal(during.get('replicas{state="in_flight"}'), 2);
  await stage.ended();
  await stage.env.clock.advance(seconds(5));
  const series = await run.series();
  const wanted: Readonly<Record<string, number>> = {
    'phase{phase="RolloutDone"}': 1,
    'phase{phase="WaitingForReady"}': 0,
    percent_requested: 50,
    percent_deployed: 50,
    'replicas{state="total"}': 4,
    'replicas{state="target"}': 2,
    'replicas{state="updated"}': 2,
    'replicas{state="ready"}': 4,
    'replicas{state="in_flight"}': 0,
    leaked_replicas: 0,
    budget_slots: 2,
    'evictions_total{result="accepted"}': 2,
    eviction_batch_size_count: 1,
    eviction_batch_size_sum: 2,
    'completed_total{result="done",rollback="false"}': 2,
    'duration_seconds_count{result="done"}': 2,
    pod_rotation_seconds_count: 2,
    reconcile_errors_total: 0,
    queue_depth: 0,
  };
  for (const [name, value] of Object.entries(wanted)) assert.equal(series.get(name), value, name);
  assert.ok((series.get('pod_rotation_seconds_sum') ?? 0) >= 2);
  assert.ok((series.get('reconcile_total{outcome="ended"}') ?? 0) > 5);
  assert.ok((series.get('reconcile_duration_seconds_count') ?? 0) > 5);
  assert.ok(!series.has('replicas{state="service_discovery"}'));
  await stage.close();
});

test('the age of a partial rollout grows while nothing happens, and ends with it [G-2]', async () => {
  const { stage, run } = await settled();
  assert.equal((await run.series()).get('partial_age_seconds'), undefined);
  await stage.edit({ percent: 50, statefulset: stage.carried('db:2') });
  await stage.ended();
  await stage.env.clock.advance(minutes(10));
  const age = (await run.series()).get('partial_age_seconds') ?? 0;
  assert.ok(age > 598 && age < 620, `${age}`);
  await stage.edit({ percent: 100 });
  await stage.ended();
  assert.equal((await run.series()).get('partial_age_seconds'), undefined);
  await stage.close();
});

test('a pause is no part of the duration, and a rollback is distinguished [G-4]', async () => {
  const { stage, run } = await settled();
  await stage.env.clock.advance(minutes(1));
  const before = (await run.series()).get('duration_seconds_sum{result="done"}') ?? 0;
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.until('two have gone', () => stage.evictions().length === 2);
  await stage.edit({ pauseRequested: true });
  await stage.env.clock.advance(minutes(30));
  await stage.edit({ pauseRequested: false });
  await stage.ended();
  const after = (await run.series()).get('duration_seconds_sum{result="done"}') ?? 0;
  assert.ok(after - before < 300, `${after - before} s`);
  await stage.edit({ statefulset: stage.carried('db:1') });
  await stage.ended();
  assert.equal((await run.series()).get('completed_total{result="done",rollback="true"}'), 1);
  await stage.close();
});

test('a failure is counted as one [G-4]', async () => {
  const { stage, run } = await settled();
  await stage.edit({ statefulset: stage.carried('db:1', { serviceName: 'other' }) });
  await stage.ended('RolloutFailed');
  await stage.env.clock.advance(minutes(10));
  const series = await run.series();
  assert.equal(series.get('completed_total{result="failed",rollback="false"}'), 1);
  assert.equal(series.get('duration_seconds_count{result="failed"}'), 1);
  await stage.close();
});

test('nothing is shown of a resource that is gone, nor by a process that has ended [G-7]', async () => {
  const { stage, run } = await settled();
  await stage.create('db:2', {}, 'second');
  await stage.until('it has failed', () => stage.phase('second') === 'RolloutFailed');
  const named = async (name: string): Promise<readonly string[]> =>
    [...(await run.series()).keys()].filter((key) => key.includes(`name="${name}"`));
  assert.ok((await named('second')).length > 0);
  await stage.remove('second');
  await stage.until('it is gone', () => stage.rollout('second') === undefined);
  await stage.env.clock.advance(minutes(1));
  assert.deepEqual(await named('second'), []);
  assert.equal((await run.series()).get('percent_deployed'), 100);
  await run.stop();
  const left = [...(await run.series())].filter(([, value]) => value !== 0);
  assert.deepEqual(
    left.filter(([key]) => !key.startsWith('eviction_batch_size')),
    [],
  );
  await stage.close();
});
