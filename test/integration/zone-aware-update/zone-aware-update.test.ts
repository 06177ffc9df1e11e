/** ZoneAwareUpdates, carried out: zones in order, steps that grow, alarms, and what ends them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, minutes, seconds } from '#base/units.ts';
import { ZoneUpdateStage } from './zone-update-stage.ts';

async function settled(
  spec: Parameters<ZoneUpdateStage['create']>[0] = {},
): Promise<ZoneUpdateStage> {
  const stage = await ZoneUpdateStage.open();
  stage.start();
  await stage.create(spec);
  await stage.until('it is settled', () => stage.condition() === 'True Updated');
  return stage;
}

test('a set is updated zone by zone in ever larger steps, the highest ordinals first, and ends promoted', async () => {
  const stage = await settled();
  const zones = ['zone-a', 'zone-b', 'zone-c'].map((zone) =>
    Array.from({ length: 12 }, (_, at) => 11 - at).filter(
      (ordinal) => stage.zoneOf(`db-${ordinal}`) === zone,
    ),
  );
  assert.deepEqual(
    zones.map(({ length }) => length),
    [4, 4, 4],
  );
  await stage.change('db:2');
  await stage.completed('db:2');
  const [a = [], b = [], c = []] = zones;
  const wanted = [a.slice(0, 1), a.slice(1, 3), a.slice(3), b, c];
  assert.deepEqual(
    stage.steps(),
    wanted.map((step) => step.join(' ')),
  );
  assert.deepEqual(stage.statuses().slice(-6), [
    '1 / 1 / 4,4,4',
    '2 / 2 / 3,4,4',
    '3 / 1 / 1,4,4',
    '4 / 4 / 0,4,4',
    '5 / 4 / 0,0,4',
    '0 / 0 / 0,0,0',
  ]);
  await stage.close();
});

test('an alarm that rings pauses a rollout between two steps, is asked every 10 s, and the steps go on where they were', async () => {
  const stage = await settled({ pauseRolloutAlarm: 'Ingesters' });
  assert.equal(stage.source.calls.length, 0);
  await stage.change('db:2');
  await stage.until('one step is done', () => stage.status().startsWith('1 '));
  stage.source.state = 'ALARM';
  await stage.until('it is paused', () => stage.isPaused());
  const [calls, steps] = [stage.source.calls.length, stage.steps().length];
  await stage.pass(seconds(100));
  assert.equal(stage.steps().length, steps);
  const asked = stage.source.calls.length - calls;
  assert.ok(asked >= 9 && asked <= 10, `${asked} calls in 100 s`);
  assert.equal(stage.condition(), 'False AlarmRings');
  const writes = stage.statuses().length;
  await stage.pass(seconds(100));
  assert.equal(stage.statuses().length, writes);
  stage.source.state = 'OK';
  await stage.completed('db:2');
  assert.equal(stage.isPaused(), false);
  assert.deepEqual(
    stage.steps().map((step) => step.split(' ').length),
    [1, 2, 1, 4, 4],
  );
  await stage.close();
});

test('[found R-25] an alarm that rings right after a pod was deleted holds the next step: an answer from before does not count', async () => {
  const stage = await settled({ pauseRolloutAlarm: 'Ingesters' });
  await stage.change('db:2');
  await stage.until('the first step', () => stage.steps().length === 1);
  await stage.pass(millis(300));
  stage.source.state = 'ALARM';
  await stage.pass(minutes(2));
  assert.equal(stage.steps().length, 1);
  assert.equal(stage.condition(), 'False AlarmRings');
  stage.source.state = 'OK';
  const from = stage.source.calls.length;
  const began = stage.env.clock.monotonic();
  await stage.completed('db:2');
  const periods = Math.ceil((stage.env.clock.monotonic() - began) / 10_000);
  assert.ok(stage.source.calls.length - from <= periods + 1, 'one call a period at most');
  await stage.close();
});

test('an alarm whose state nobody can tell holds the next step, says why, and is asked again after 10 s', async () => {
  const stage = await settled({ pauseRolloutAlarm: 'Ingesters' });
  stage.source.failure = { kind: 'error', reason: 'Throttled', message: 'CloudWatch says no more' };
  await stage.change('db:2');
  await stage.until('it says so', () => stage.condition() === 'False AlarmUnknown');
  assert.match(stage.conditionMessage(), /CloudWatch says no more/);
  await stage.pass(seconds(60));
  assert.deepEqual(stage.steps(), []);
  stage.source.failure = undefined;
  await stage.completed('db:2');
  await stage.close();
});

test('nothing is asked, read again or written while there is nothing to do', async () => {
  const stage = await settled({ pauseRolloutAlarm: 'Ingesters' });
  await stage.pass(seconds(30));
  const { calls } = stage.env.cluster.eventLog;
  const before = calls.length;
  await stage.pass(seconds(600));
  const since = calls.slice(before).filter(({ user }) => user.startsWith('operator-'));
  const writes = since.filter(
    ({ verb, resource }) => verb !== 'watch' && resource !== 'leases.coordination.k8s.io',
  );
  assert.deepEqual(
    writes.map(({ verb, resource }) => `${verb} ${resource}`),
    [],
  );
  assert.equal(stage.source.calls.length, 0);
  await stage.close();
});
