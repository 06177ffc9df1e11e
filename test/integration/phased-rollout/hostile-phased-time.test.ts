/** PhasedRollouts under clocks that jump, requests that arrive late, and waits that last. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { SkewedClock } from '#support/clocks/skewed-clock.ts';
import { noData, someData } from '#support/external-services/fake-prometheus.ts';
import { mostDown } from './phased-judge.ts';
import { PhasedStage, usualCheck } from './phased-stage.ts';

const namespace = 'demo';
const pods = ['db-0', 'db-1', 'db-2'];

async function rolling(stage: PhasedStage, partition: number): Promise<void> {
  await stage.create();
  await stage.settled();
  await stage.change('db:2');
  await stage.until('it is under way', () => stage.partition() === partition);
}

for (const hours of [1, -1, 24]) {
  test(`a wall clock that jumps by ${hours} h in mid-rollout neither hurries a pod nor stops the rollout [GATE-1]`, async () => {
    const stage = await PhasedStage.open();
    const clock = new SkewedClock(stage.env.clock);
    stage.start(['--leader-elect'], clock);
    await rolling(stage, 2);
    clock.step(minutes(60 * hours));
    const before = stage.env.clock.monotonic();
    await stage.completed('db:2');
    const took = stage.env.clock.monotonic() - before;
    assert.ok(took < minutes(4), `it took ${took / 1_000} s`);
    assert.equal(mostDown(stage.env.cluster.eventLog.commits, pods), 1);
    await stage.close();
  });
}

test('the last request of a killed process that arrives 100 s late lets no pod go to a template that came meanwhile [GATE-1]', async () => {
  const stage = await PhasedStage.open();
  const first = stage.start();
  await rolling(stage, 3);
  stage.env.cluster.faults.add({
    match: { user: 'operator-1', verb: 'patch', resource: 'statefulsets' },
    action: { kind: 'delay', delay: seconds(5), when: 'before' },
    count: 1,
  });
  const isSent = (): boolean =>
    stage.prometheus.asked.filter(({ answered }) => answered !== undefined).length >= 2;
  await stage.until('the checks have passed', isSent);
  await stage.env.clock.advance(seconds(1));
  first.die(seconds(99));
  await stage.env.clock.advance(seconds(50));
  await stage.change('db:3');
  stage.start();
  await stage.completed('db:3');
  assert.equal(mostDown(stage.env.cluster.eventLog.commits, pods), 1);
  await stage.close();
});

test('a PhasedRollout that is deleted and made again in mid-step gates the next update, and two pods are never away', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  await rolling(stage, 2);
  await stage.remove();
  await stage.until('it is gone', () => stage.rollout() === undefined);
  await stage.create();
  await stage.until('it is settled', () => stage.phase() === 'Updated', minutes(20));
  await stage.change('db:3');
  await stage.env.clock.advance(seconds(5));
  assert.equal(stage.partition(), 3);
  await stage.completed('db:3');
  assert.equal(mostDown(stage.env.cluster.eventLog.commits, pods), 1);
  await stage.close();
});

test('a rollout whose checks fail for an hour tells it seven times at most, and goes on at once when they pass', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  stage.prometheus.answer = () => noData;
  await rolling(stage, 3);
  await stage.env.clock.advance(minutes(60));
  const told = [...stage.env.stored('events').values()].filter(
    (event) => textAt(event, 'involvedObject', 'kind') === 'PhasedRollout',
  );
  const count = told.reduce((sum, event) => sum + Number(event['count'] ?? 1), 0);
  assert.ok(count <= 10, `${count} Events`);
  stage.prometheus.answer = () => someData;
  await stage.until('one may go', () => stage.partition() === 2, seconds(20));
  await stage.completed('db:2');
  await stage.close();
});

test('two programs that set the partition against each other send no more than a few requests a minute', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  await rolling(stage, 2);
  const key = { namespace, name: 'db' };
  const document = { spec: { updateStrategy: { rollingUpdate: { partition: 7 } } } };
  const ours = (): number =>
    stage.env.cluster.eventLog.calls.filter(
      ({ user, verb, resource }) =>
        user === 'operator-1' && verb === 'patch' && resource.startsWith('statefulsets'),
    ).length;
  stage.isLifted = true;
  const before = ours();
  for (let round = 0; round < 600; round += 1) {
    if (stage.partition() !== 7) {
      const body = { kind: 'merge', document } as const;
      await stage.env.client.patch(resourceTypes.statefulSets, key, { body });
    }
    await stage.env.clock.advance(seconds(1));
  }
  const sent = ours() - before;
  assert.ok(sent <= 30, `${sent} requests in ten minutes`);
  assert.ok(stage.messages('PartitionContested').length > 0);
  await stage.completed('db:2');
  await stage.close();
});

test('a check that is made stricter in the middle of a streak is asked as often as it says now', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  await rolling(stage, 2);
  await stage.until('one has passed', () => stage.prometheus.asked.length >= 3);
  await stage.edit({ spec: { check: { ...usualCheck, successThreshold: 6 } } });
  const asked = stage.prometheus.asked.length;
  await stage.until('the next may go', () => stage.partition() === 1);
  assert.ok(stage.prometheus.asked.length - asked >= 4);
  await stage.completed('db:2');
  await stage.close();
});

for (const from of [3, 2]) {
  test(`a suspension of a killed process that arrives at partition ${from} while nobody leads lets go no more than one pod [GATE-1]`, async () => {
    const stage = await PhasedStage.open();
    const first = stage.start();
    await rolling(stage, from);
    await stage.until('it waits', () => stage.step() === 'WaitForInitialDelay');
    stage.env.kubelet.behaviours.add({ match: {}, behave: 'slowStart', by: minutes(1) });
    stage.env.cluster.faults.add({
      match: { user: 'operator-1', verb: 'patch', resource: 'statefulsets' },
      action: { kind: 'delay', delay: seconds(5), when: 'before' },
      count: 1,
    });
    await stage.edit({ spec: { standardRollingUpdate: true } });
    await stage.env.clock.advance(seconds(1));
    first.die(seconds(3));
    await stage.edit({ spec: { standardRollingUpdate: false } });
    await stage.until('it has arrived', () => stage.partition() === 0);
    stage.start();
    await stage.env.clock.advance(seconds(30));
    assert.equal(stage.partition(), from);
    await stage.completed('db:2');
    assert.equal(mostDown(stage.env.cluster.eventLog.commits, pods), 1);
    await stage.close();
  });
}

test('what a user lets go by hand stays so when the process that saw it is killed', async () => {
  const stage = await PhasedStage.open();
  const first = stage.start();
  await rolling(stage, 2);
  stage.prometheus.answer = () => noData;
  await stage.movePartition(0);
  await stage.env.clock.advance(seconds(2));
  first.die();
  stage.start();
  await stage.completed('db:2');
  assert.deepEqual(stage.partitions(), [0, 3, 2, 0, 3]);
  await stage.close();
});
