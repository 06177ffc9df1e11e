/** Two processes, kills, pauses, late requests, terms, and no Lease, under a budget whose evictions a third one answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, millis, minutes, seconds } from '#base/units.ts';
import { images } from '#testing/world-group.ts';
import { forbidLeases } from '#testing/lease-role.ts';
import type { World } from '#testing/world.ts';
import { budgetedWorld, givenAway, makeBudget } from '../integration/budget-stage.ts';
import { assertKept, blockedBy } from '../integration/rollout-stage.ts';
import { type Replica, replica } from './second-replica.ts';

function isReady(world: World, name: string): boolean {
  const pod = world.stored('pods', name) as StoredPod | undefined;
  if (pod?.metadata?.deletionTimestamp !== undefined) return false;
  return pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
}

interface StoredPod {
  readonly metadata?: { readonly deletionTimestamp?: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

async function stage(operators = 1): Promise<{ world: World; two: Replica }> {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1', operators, kubelet: { delays: { stop: seconds(4) } } });
  await world.readyOperator();
  for (let more = 1; more < operators; more += 1) await world.readyOperator();
  await world.clock.advance(minutes(3));
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  const two = await replica(world, 'replica');
  await world.clock.advance(seconds(15));
  return { world, two };
}

/** Asks every 2 s for a pod of zone c as a drain does; what is allowed is evicted. @returns when two zones were down */
async function drained(world: World, two: Replica, span: Millis): Promise<readonly string[]> {
  const bad: string[] = [];
  const end = world.clock.now() + span;
  while (world.clock.now() < end) {
    await world.clock.advance(millis(500));
    const down = world.zones.filter((zone) =>
      [0, 1, 2].some((ordinal) => !isReady(world, `ingester-zone-${zone}-${ordinal}`)),
    );
    if (down.length > 1) bad.push(`${world.clock.now()}: ${down}`);
    if (Math.floor(world.clock.now() / 500) % 8 === 0) {
      const pod = `ingester-zone-c-${Math.floor(world.clock.now() / 4000) % 3}`;
      if ((await world.run(two.evict(pod))) === 'allowed') await world.deletePod(pod);
    }
  }
  return bad;
}

for (const [what, moment] of [
  ['between the reservation and its answer', 'reserved'],
  ['while its DELETE is under way', 'delete'],
  ['while the answer to its DELETE is under way', 'answer'],
] as const) {
  for (const late of [0, 60, 110]) {
    test(`a leader that is killed ${what}, whose requests arrive ${late} s late, lets no two zones be down`, async () => {
      const { world, two } = await stage();
      const [one] = world.operators;
      assert.ok(one);
      world.cluster.faults.add({
        match: { client: one.client, verb: moment === 'reserved' ? 'update' : 'delete', resource: moment === 'reserved' ? 'configmaps' : 'pods' },
        action: { kind: 'delay', delay: seconds(3), when: moment === 'delete' ? 'before' : 'after' },
        count: 1,
      });
      await world.setImage(images.new, ['a', 'b']);
      await world.clock.advance(seconds(1));
      one.kill({ late: seconds(late) });
      world.startOperator();
      const bad = await drained(world, two, minutes(6));
      await world.clock.advance(minutes(8));
      const left = givenAway(world);
      await two.stop();
      await world.close();
      assert.deepEqual(bad, []);
      assert.deepEqual(left, []);
    });
  }
}

for (const span of [minutes(1), minutes(10)]) {
  test(`a leader that is paused for ${span / 60_000} min in mid-batch lets no two zones be down`, async () => {
    const { world, two } = await stage(2);
    const [one] = world.operators;
    assert.ok(one);
    world.cluster.faults.add({
      match: { client: one.client, verb: 'update', resource: 'configmaps' },
      action: { kind: 'delay', delay: seconds(3), when: 'after' },
      count: 1,
    });
    await world.setImage(images.new, ['a', 'b']);
    await world.clock.advance(seconds(1));
    one.pause(span);
    const bad = await drained(world, two, minutes(16));
    await world.clock.advance(minutes(3));
    const left = givenAway(world);
    await two.stop();
    await world.close();
    assert.deepEqual(bad, []);
    assert.deepEqual(left, []);
  });
}

for (const step of [minutes(60), minutes(-60)]) {
  test(`a leader whose clock steps by ${step / 60_000} min in mid-batch lets no two zones be down, and ends`, async () => {
    const { world, two } = await stage();
    const [one] = world.operators;
    assert.ok(one);
    await world.setImage(images.new, ['a', 'b']);
    await world.clock.advance(seconds(3));
    one.stepWallClock(step);
    const bad = await drained(world, two, minutes(5));
    await world.clock.advance(minutes(5));
    const left = givenAway(world);
    const reason = await blockedBy(world, one);
    await two.stop();
    await world.close();
    assert.deepEqual(bad, []);
    assert.deepEqual(left, [], String(reason));
  });
}

test('an operator that may have no Lease at all rolls under a budget, and after its restart', async () => {
  const { world, two } = await stage();
  const [first] = world.operators;
  assert.ok(first);
  await world.run(first.stop());
  forbidLeases(world, 'get', 'list', 'watch', 'create', 'update', 'patch', 'delete');
  const one = await world.readyOperator();
  await world.clock.advance(minutes(3));
  await world.setImage(images.new);
  await world.clock.advance(seconds(5));
  one.kill({ late: seconds(50) });
  await world.readyOperator();
  await world.untilRolled(images.new, minutes(20));
  await world.clock.advance(minutes(3));
  const left = givenAway(world);
  assertKept(world);
  await two.stop();
  await world.close();
  assert.deepEqual(left, []);
});

test('EXCL: a budget that is made while the DELETE of a killed predecessor is under way gives no other zone away', async () => {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
  const one = await world.readyOperator();
  await world.clock.advance(minutes(3));
  world.cluster.faults.add({
    match: { client: one.client, verb: 'delete', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(3) },
    count: 1,
  });
  await world.setImage(images.new);
  await world.clock.advance(seconds(1));
  const [asked] = world.cluster.faults.hits;
  one.kill({ late: seconds(100) });
  world.startOperator();
  await world.clock.advance(seconds(50));
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  const two = await replica(world, 'replica');
  await world.clock.advance(seconds(38));
  const other = await world.run(two.evict('ingester-zone-b-1'));
  if (other === 'allowed') await world.deletePod('ingester-zone-b-1');
  await world.clock.advance(seconds(1.5));
  const down = ['ingester-zone-a-0', 'ingester-zone-b-1'].filter((name) => !isReady(world, name));
  await world.clock.advance(minutes(1));
  await two.stop();
  await world.close();
  assert.equal(asked?.name, 'ingester-zone-a-0');
  assert.notEqual(other, 'allowed', `down at once: ${down}`);
});
