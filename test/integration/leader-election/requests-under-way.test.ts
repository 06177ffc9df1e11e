/** What the Lease says of requests under way, so that a leader which is killed costs its successor no wait for nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import type { LeaseRecord } from '#kubernetes/leader-election/lease-record.ts';
import { parseLease } from '#kubernetes/leader-election/parse-lease.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images, NAMESPACE } from '#support/world/world-group.ts';
import { type OperatorRun, usualRenewals } from '#support/world/world-operator.ts';
import { assertKept, deletedPods, eventReasons } from '../stages/rollout-stage.ts';

/** Three zones of four, one pod at a time, and the Lease as client-go's programs have it. */
const group: WorldOptions = {
  replicas: 4,
  maxUnavailable: '1',
  operators: 2,
  flags: usualRenewals,
};

/** The longest time until another replica has a Lease whose holder was killed: its duration, and one look of a follower. */
const leaseRunsOut = 17_000;
const aRestart = 40_000;

interface Led {
  readonly world: World;
  readonly leader: OperatorRun;
  readonly follower: OperatorRun;
}

/** Returns a group at rest, whose leader has outlived the two minutes in which another program may have a request under way. */
async function atRest(options: WorldOptions = group): Promise<Led> {
  const world = await World.create(options);
  const leader = await world.readyOperator();
  const follower = await world.readyOperator();
  await world.clock.advance(minutes(3));
  return { world, leader, follower };
}

/** When each deletion of a pod arrived that `operator` sent. */
function deletions(world: World, { client }: OperatorRun): readonly number[] {
  return world.cluster.eventLog.calls
    .filter((call) => call.client === client && call.verb === 'delete' && call.resource === 'pods')
    .map(({ startedAt }) => startedAt);
}

/** Returns the requests that the Lease says are under way. */
async function underWayIn(world: World): Promise<LeaseRecord['underWay']> {
  const key = { namespace: NAMESPACE, name: 'rollout-operator' };
  return parseLease(await world.run(world.admin.get(resourceTypes.leases, key))).underWay;
}

test('a leader that is killed in mid-rollout is followed as soon as its Lease runs out, where nothing of it is under way [found S-6]', async () => {
  const { world, leader, follower } = await atRest();
  await world.setImage(images.new);
  await world.clock.runUntil(() => deletedPods(world).length === 3, { maxVirtual: minutes(5) });
  await world.clock.advance(seconds(1));
  const last = deletions(world, leader).at(-1) ?? Number.NaN;
  leader.kill();
  await world.clock.runUntil(() => deletions(world, follower).length > 0, {
    maxVirtual: minutes(10),
  });
  const took = (deletions(world, follower)[0] ?? Number.NaN) - last;
  assert.ok(took <= leaseRunsOut + aRestart, `${took} ms`);
  await world.untilRolled(images.new);
  assert.equal(deletedPods(world).length, 12);
  assertKept(world);
  await world.close();
});

test('of two groups only the one waits whose pod a killed leader may still delete, and no longer than until that pod is gone [found S-6]', async () => {
  const { world, leader, follower } = await atRest();
  await world.addGroup('store', { replicas: 2, maxUnavailable: '1' });
  await world.clock.advance(seconds(10));
  world.cluster.faults.add({
    match: { client: leader.client, verb: 'delete', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(1) },
  });
  await world.setImage(images.new);
  await world.clock.runUntil(() => world.record.statements.length === 1);
  const requests = await underWayIn(world);
  assert.equal(requests?.length, 1);
  assert.match(requests[0] ?? '', /^Pod\/demo\/ingester-zone-a-0\/[^/]+\/ingester$/);
  leader.kill({ late: seconds(80) });
  const killedAt = world.clock.now();
  await world.setImageOf('store', images.new);
  await world.clock.runUntil(() => world.isComplete(images.new, 'store'), {
    maxVirtual: minutes(10),
  });
  // The other group is done before the late deletion arrives.
  assert.ok(world.clock.now() - killedAt < 80_000, `${world.clock.now() - killedAt} ms`);
  const ofIngesters = (): readonly string[] =>
    deletedPods(world).filter((name) => name.startsWith('ingester'));
  assert.deepEqual(ofIngesters(), []);
  assert.ok(eventReasons(world, 'ingester-zone-a').includes('AwaitingPredecessor'));
  await world.clock.runUntil(() => ofIngesters().length === 1, { maxVirtual: minutes(2) });
  const arrivedAt = world.clock.now();
  await world.clock.runUntil(() => ofIngesters().length === 2, { maxVirtual: minutes(2) });
  assert.ok(world.clock.now() - arrivedAt <= aRestart, `${world.clock.now() - arrivedAt} ms`);
  assert.equal(deletions(world, follower).length > 0, true);
  await world.untilRolled(images.new);
  assertKept(world);
  await world.close();
});

test('a request that two killed leaders have left behind is waited for by the third [found S-6]', async () => {
  const { world, leader, follower } = await atRest();
  world.cluster.faults.add({
    match: { client: leader.client, verb: 'delete', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(1) },
  });
  await world.setImage(images.new);
  await world.clock.runUntil(() => world.record.statements.length === 1);
  leader.kill({ late: seconds(90) });
  const killedAt = world.clock.now();
  await world.clock.runUntil(() => !follower.isFollowing, { maxVirtual: minutes(1) });
  const third = await world.readyOperator();
  await world.clock.advance(seconds(5));
  follower.kill();
  // The first zone is taken back: the late deletion is of a pod that nobody wants to go any more.
  await world.setImage(images.old, ['a']);
  await world.clock.runUntil(() => !third.isFollowing, { maxVirtual: minutes(1) });
  await world.clock.runUntil(() => deletions(world, third).length > 0, { maxVirtual: minutes(5) });
  // Only now that the deletion which the first one had sent has arrived, and its pod is back.
  const took = world.clock.now() - killedAt;
  assert.ok(took >= 90_000 && took < 120_000, `${took} ms`);
  await world.clock.advance(minutes(20));
  assertKept(world);
  await world.close();
});

test('a Lease that says nothing, or that another term has written, is waited out as ever [found S-6]', async () => {
  const { world, leader, follower } = await atRest();
  await world.setImage(images.new);
  await world.clock.runUntil(() => deletedPods(world).length === 3, { maxVirtual: minutes(5) });
  const last = deletions(world, leader).at(-1) ?? Number.NaN;
  leader.kill();
  const key = { namespace: NAMESPACE, name: 'rollout-operator' };
  const stale = JSON.stringify({ term: 'of/7/another', requests: [] });
  const metadata = { annotations: { 'rollout-operator/under-way': stale } };
  const body = { kind: 'merge', document: { metadata } } as const;
  await world.run(world.admin.patch(resourceTypes.leases, key, { body }));
  await world.clock.runUntil(() => deletions(world, follower).length > 0, {
    maxVirtual: minutes(10),
  });
  const took = (deletions(world, follower)[0] ?? Number.NaN) - last;
  assert.ok(took >= 120_000, `${took} ms`);
  await world.untilRolled(images.new);
  assertKept(world);
  await world.close();
});
