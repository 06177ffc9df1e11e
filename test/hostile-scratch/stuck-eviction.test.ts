/** LIVE-4: evictions that a replica denies although nothing stands against them any more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, minutes, seconds } from '#base/units.ts';
import { images } from '#testing/world-group.ts';
import { budgetedWorld, givenAway, makeBudget } from '../integration/budget-stage.ts';
import { type Replica, replica } from './second-replica.ts';
import type { World } from '#testing/world.ts';

const group = { replicas: 3, maxUnavailable: '1' } as const;

/** Writes of ledgers take 50 ms to be answered, as everywhere but in tests. */
function slowWrites(world: World): void {
  world.cluster.faults.add({
    match: { verb: ['update', 'create'], resource: 'configmaps' },
    action: { kind: 'delay', delay: millis(50), when: 'after' },
  });
}

/** Asks every 10 s, as kubectl drain every 5 s. */
async function askedAgain(world: World, one: Replica, pod: string): Promise<readonly string[]> {
  const answers: string[] = [];
  for (let at = 0; at < 60; at += 1) {
    answers.push(await world.run(one.evict(pod)));
    if (answers.at(-1) === 'allowed') break;
    await world.clock.advance(seconds(10));
  }
  return answers;
}

test('LIVE-4: a pod that is back within 3 s of its eviction is in nobody’s way', async () => {
  const delays = { stop: millis(100), start: millis(500), ready: millis(500) };
  const world = await budgetedWorld({ ...group, kubelet: { delays } });
  await world.readyOperator();
  await world.clock.advance(minutes(3));
  slowWrites(world);
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  const two = await replica(world);
  await world.clock.advance(seconds(15));
  assert.equal(await world.run(two.evict('ingester-zone-a-0')), 'allowed');
  await world.deletePod('ingester-zone-a-0');
  await world.clock.advance(seconds(10));
  const answers = await askedAgain(world, two, 'ingester-zone-b-0');
  await two.stop();
  await world.close();
  assert.equal(answers.at(-1), 'allowed', `${answers.length} × ${answers.at(-1)}`);
});

for (const who of ['a replica that followed', 'a new replica'] as const) {
  test(`LIVE-4: what a replica granted that has ended since does not stand for ever in the way of those who ask ${who}`, async () => {
    const world = await budgetedWorld({ ...group, kubelet: { delays: { ready: seconds(20) } } });
    await world.readyOperator();
    await world.clock.advance(minutes(3));
    slowWrites(world);
    await makeBudget(world);
    await world.clock.advance(seconds(11));
    const one = await replica(world, 'replica-1');
    let two = await replica(world, 'replica-2');
    await world.clock.advance(seconds(15));
    assert.equal(await world.run(one.evict('ingester-zone-a-0')), 'allowed');
    await world.deletePod('ingester-zone-a-0');
    // A drain takes the operator's pod, too.
    await world.run(one.stop());
    await world.clock.advance(seconds(60));
    if (who === 'a new replica') {
      await world.run(two.stop());
      two = await replica(world, 'replica-3');
      await world.clock.advance(seconds(15));
    }
    const answers = await askedAgain(world, two, 'ingester-zone-b-0');
    const left = givenAway(world);
    await two.stop();
    await world.close();
    assert.equal(answers.at(-1), 'allowed', `${answers.length} × ${answers.at(-1)}; ledger ${left}`);
  });
}

test('LIVE-1: what a replica granted that has ended since leaves the ledger although nobody asks', async () => {
  const world = await budgetedWorld(group);
  await world.readyOperator();
  await world.clock.advance(minutes(3));
  slowWrites(world);
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  const one = await replica(world, 'replica-1');
  await world.clock.advance(seconds(15));
  assert.equal(await world.run(one.evict('ingester-zone-a-0')), 'allowed');
  await world.deletePod('ingester-zone-a-0');
  await world.run(one.stop());
  await world.clock.advance(minutes(60));
  const left = givenAway(world);
  await world.close();
  assert.deepEqual(left, []);
});

test('LIVE-3: a rollout goes on although a replica that granted has ended since', async () => {
  const world = await budgetedWorld(group);
  await world.readyOperator();
  await world.clock.advance(minutes(3));
  slowWrites(world);
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  const one = await replica(world, 'replica-1');
  await world.clock.advance(seconds(15));
  assert.equal(await world.run(one.evict('ingester-zone-c-0')), 'allowed');
  await world.deletePod('ingester-zone-c-0');
  await world.run(one.stop());
  await world.clock.advance(minutes(1));
  await world.setImage(images.new);
  await world.untilRolled(images.new, minutes(20));
  await world.clock.advance(seconds(20));
  const left = givenAway(world);
  await world.close();
  assert.deepEqual(left, []);
});
