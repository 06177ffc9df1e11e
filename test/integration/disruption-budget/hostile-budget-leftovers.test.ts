/** What a hostile review of disruption budgets tried: reservations whose owner is gone, or that are taken back late. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, millis, minutes, seconds } from '#base/units.ts';
import type { World } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { givenAway } from '../stages/budget-stage.ts';
import {
  EvictionReplica,
  endAll,
  ledUnderBudget,
  threeByThree,
} from '../stages/eviction-replica.ts';
import { deletedPods } from '../stages/rollout-stage.ts';

/** Writes of ledgers take 50 ms to be answered, as everywhere but in tests. */
function slowWrites(world: World): void {
  world.cluster.faults.add({
    match: { verb: ['update', 'create'], resource: 'configmaps' },
    action: { kind: 'delay', delay: millis(50), when: 'after' },
  });
}

/** Asks every 10 s for ten minutes, as a drain does. @returns the last answer */
async function askedAgain(world: World, one: EvictionReplica, pod: string): Promise<string> {
  let answer = await one.evict(pod);
  for (let at = 0; at < 60 && answer !== 'allowed'; at += 1) {
    await world.clock.advance(seconds(10));
    answer = await one.evict(pod);
  }
  return answer;
}

test('a pod that is back within 3 s of its eviction blocks no other (LIVE-4)', async () => {
  const delays = { stop: millis(100), start: millis(500), ready: millis(500) };
  const { world, two } = await ledUnderBudget(undefined, { ...threeByThree, kubelet: { delays } });
  slowWrites(world);
  assert.equal(await two.evict('a-0'), 'allowed');
  await world.deletePod('ingester-zone-a-0');
  await world.clock.advance(seconds(10));
  assert.equal(await askedAgain(world, two, 'b-0'), 'allowed');
  assert.deepEqual(givenAway(world), ['ingester-zone-b-0']);
  await endAll(world, two);
});

for (const isNew of [false, true]) {
  const who = isNew ? 'a new replica' : 'a replica that followed';
  test(`what a replica granted that has ended since is in nobody’s way who asks ${who} (LIVE-4)`, async () => {
    const kubelet = { delays: { ready: seconds(20) } };
    const { world, two } = await ledUnderBudget(undefined, { ...threeByThree, kubelet });
    slowWrites(world);
    const follower = await EvictionReplica.start(world, 'follower');
    await world.clock.advance(seconds(15));
    assert.equal(await two.evict('a-0'), 'allowed');
    await world.deletePod('ingester-zone-a-0');
    // A drain takes the operator's pod, too.
    await two.stop();
    await world.clock.advance(seconds(60));
    const asked = isNew ? await EvictionReplica.start(world, 'new') : follower;
    assert.equal(await askedAgain(world, asked, 'b-0'), 'allowed');
    assert.deepEqual(givenAway(world), ['ingester-zone-b-0']);
    await endAll(world, ...new Set([follower, asked]));
  });
}

test('what a replica granted that has ended since leaves the ledger although no client asks (LIVE-1)', async () => {
  const { world, two } = await ledUnderBudget();
  slowWrites(world);
  assert.equal(await two.evict('a-0'), 'allowed');
  await world.deletePod('ingester-zone-a-0');
  await two.stop();
  await world.clock.advance(minutes(10));
  assert.deepEqual(givenAway(world), []);
  await world.close();
});

test('a successor that has nothing to roll takes what has ended out of the ledger', async () => {
  const { world, operator, two } = await ledUnderBudget(undefined, {
    ...threeByThree,
    operators: 2,
  });
  await world.untilReady(world.startOperator());
  await world.setImage(images.new);
  await world.clock.runUntil(() => givenAway(world)?.includes('ingester-zone-c-2') === true);
  await world.clock.advance(seconds(1));
  operator.kill();
  await world.untilRolled(images.new);
  await world.clock.advance(minutes(10));
  assert.deepEqual(givenAway(world), []);
  await endAll(world, two);
});

for (const [lateBy, forwardAt] of [
  [7, 5.5],
  [7, 6.5],
  [4, 3.5],
] as const) {
  test(`a reservation that is taken back ${lateBy} s late stays where its pod is wanted again after ${forwardAt} s, and is on its way (EXCL-1)`, async () => {
    const { world, operator, two } = await ledUnderBudget();
    const { client } = operator;
    // Reserved, and never sent: the write is answered late, and the rollout is taken back meanwhile.
    world.cluster.faults.add({
      match: { client, verb: 'update', resource: 'configmaps' },
      action: { kind: 'delay', delay: seconds(2), when: 'after' },
      count: 1,
    });
    world.cluster.faults.add({
      match: { client, verb: 'delete', resource: 'pods' },
      action: { kind: 'delay', delay: seconds(40) },
      count: 1,
    });
    await world.setImage(images.new);
    await world.clock.advance(seconds(1));
    await world.setImage(images.old);
    assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
    let sentAt: number | undefined;
    world.cluster.faults.add({
      match: { client, verb: 'update', resource: 'configmaps' },
      action: {
        kind: 'delay',
        get delay(): Millis {
          sentAt ??= world.clock.now();
          return seconds(lateBy);
        },
      },
      count: 1,
    });
    await world.clock.runUntil(() => sentAt !== undefined, { maxVirtual: minutes(2) });
    await world.clock.advance(seconds(forwardAt));
    assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
    await world.setImage(images.new);
    await world.clock.advance(seconds(lateBy - forwardAt + 0.5));
    assert.deepEqual(deletedPods(world), []);
    const isSent = world.cluster.faults.hits.some(({ verb }) => verb === 'delete');
    // Where it is not on its way, the ledger has nothing that others would have to wait for.
    assert.deepEqual(givenAway(world), isSent ? ['ingester-zone-a-0'] : []);
    const other = await two.evict('b-0');
    assert.equal(other.startsWith('429 '), isSent, other);
    await endAll(world, two);
  });
}
