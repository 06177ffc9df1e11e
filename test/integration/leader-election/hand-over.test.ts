import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, millis, minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { forbidLeases } from '#support/world/lease-role.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images, NAMESPACE } from '#support/world/world-group.ts';
import { OPERATOR_USER, type OperatorRun, usualRenewals } from '#support/world/world-operator.ts';
import {
  assertKept,
  deletedPods,
  eventReasons,
  untilBlockedBy,
  writesOf,
} from '../stages/rollout-stage.ts';

/** Three zones of four, one pod at a time, and the Lease as client-go's programs have it. */
const group: WorldOptions = {
  replicas: 4,
  maxUnavailable: '1',
  operators: 2,
  flags: usualRenewals,
};

/** A group in mid-rollout, with a leader and one that follows. */
async function underWay(options: WorldOptions = group): Promise<{
  readonly world: World;
  readonly leader: OperatorRun;
  readonly follower: OperatorRun;
}> {
  const world = await World.create(options);
  const leader = await world.readyOperator();
  const follower = await world.readyOperator();
  assert.ok(follower.isFollowing);
  await world.setImage(images.new);
  await world.clock.runUntil(() => deletedPods(world).length === 3, { maxVirtual: minutes(5) });
  return { world, leader, follower };
}

/** When each deletion of a pod arrived, by the operator that sent it. */
function deletions(world: World, { client }: OperatorRun): readonly number[] {
  return world.cluster.eventLog.calls
    .filter((call) => call.client === client && call.verb === 'delete' && call.resource === 'pods')
    .map(({ startedAt }) => startedAt);
}

/** How long after the last deletion of `old` the first one of `next` arrived. */
async function gap(world: World, old: OperatorRun, next: OperatorRun): Promise<Millis> {
  const last = deletions(world, old).at(-1) ?? Number.NaN;
  await world.clock.runUntil(() => deletions(world, next).length > 0, { maxVirtual: minutes(10) });
  return millis((deletions(world, next)[0] ?? Number.NaN) - last);
}

/** How long the replacement of one pod takes: the longest time between two deletions of one operator so far. */
function restartOf(world: World, operator: OperatorRun): number {
  const times = deletions(world, operator);
  return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)));
}

async function untilDone(world: World): Promise<void> {
  await world.untilRolled(images.new);
  assert.equal(deletedPods(world).length, 12);
  assertKept(world);
}

test('a leader that is stopped in good order is followed within 2 s and the restart of a pod', async () => {
  const { world, leader, follower } = await underWay();
  const restart = restartOf(world, leader);
  await world.run(leader.stop());
  const took = await gap(world, leader, follower);
  assert.ok(took <= 2_000 + restart, `${took} ms, and a restart takes ${restart} ms`);
  await untilDone(world);
  await world.close();
});

test('a leader that is stopped while a deletion is under way hears its answer first, and so ends in good order', async () => {
  const world = await World.create(group);
  const leader = await world.readyOperator();
  const follower = await world.readyOperator();
  world.cluster.faults.add({
    match: { client: leader.client, verb: 'delete', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(3) },
  });
  await world.setImage(images.new);
  await world.clock.runUntil(() => world.record.statements.length === 1);
  await world.clock.advance(seconds(1));
  await world.run(leader.stop());
  assert.deepEqual(deletedPods(world), ['ingester-zone-a-0']);
  const took = await gap(world, leader, follower);
  assert.ok(took <= 20_000, `${took} ms`);
  await untilDone(world);
  await world.close();
});

test('a leader that is killed is followed 120 to 145 s after its last request, and the next one says why it waits [WRIT-2]', async () => {
  const { world, leader, follower } = await underWay();
  leader.kill({ late: 'seeded' });
  await untilBlockedBy(world, 'AwaitingPredecessor');
  const [zone = ''] = world.zones;
  const took = await gap(world, leader, follower);
  assert.ok(took >= 120_000 && took <= 145_000, `${took} ms`);
  assert.ok(eventReasons(world, `ingester-zone-${zone}`).includes('AwaitingPredecessor'));
  await untilDone(world);
  await world.close();
});

test('a leader that was stopped for 40 times its Lease sends nothing disruptive when it runs again [WRIT-1]', async () => {
  const { world, leader, follower } = await underWay();
  const before = deletions(world, leader).length;
  const pausedAt = world.clock.now();
  leader.pause(seconds(600));
  await world.clock.advance(seconds(599));
  assert.ok(deletions(world, follower).length > 0);
  await world.clock.advance(minutes(2));
  // A request that was under way when it was stopped may still be on its way: it was sent before.
  const late = deletions(world, leader).slice(before);
  assert.deepEqual(
    late.filter((at) => at > pausedAt),
    [],
  );
  assert.match(String(leader.ended?.error), /^LeaseLostError: The Lease was lost: /);
  await untilDone(world);
  await world.close();
});

test('of two replicas that start at once one leads, and the other writes nothing for an hour', async () => {
  const world = await World.create(group);
  const operators = [world.startOperator(), world.startOperator()];
  await world.clock.advance(seconds(10));
  const begun = world.clock.now();
  await world.clock.advance(minutes(60));
  const writers = new Set(
    world.cluster.eventLog.calls
      .filter(({ startedAt }) => startedAt > begun)
      .filter(({ user, verb }) => user === OPERATOR_USER && /^(create|update|patch)$/.test(verb))
      .filter(({ resource }) => !resource.includes('authorization'))
      .map(({ client }) => client),
  );
  assert.equal(writers.size, 1, [...writers].join(', '));
  assert.equal(operators.filter(({ isFollowing }) => isFollowing).length, 1);
  assert.ok(operators.every(({ readiness }) => readiness.isReady()));
  assert.deepEqual(writesOf(world), []);
  await world.close();
});

const edits = {
  'is deleted': undefined,
  'gets an unknown holder': { spec: { holderIdentity: 'somebody' } },
  'loses its renewTime': { spec: { renewTime: null } },
  'gets a renewTime of next year': { spec: { renewTime: '2027-06-01T00:00:00.000000Z' } },
  'is emptied by hand': { spec: { holderIdentity: '' } },
} as const;

for (const [what, document] of Object.entries(edits)) {
  test(`a Lease that ${what} in mid-rollout costs a wait at most: no pod goes twice, and the rollout ends [WRIT-1]`, async () => {
    const { world } = await underWay();
    world.onEnded.add(() => world.replaceOperator(seconds(1)));
    const key = { namespace: NAMESPACE, name: 'rollout-operator' };
    const edit =
      document === undefined
        ? world.admin.delete(resourceTypes.leases, key, { preconditions: {} })
        : world.admin.patch(resourceTypes.leases, key, { body: { kind: 'merge', document } });
    await world.run(edit.then(() => undefined));
    await world.untilRolled(images.new, minutes(20));
    assert.equal(deletedPods(world).length, 12);
    assertKept(world);
    await world.close();
  });
}

for (const verb of ['get', 'create', 'update'] as const) {
  test(`without the verb ${verb} on Leases it rolls after the wait of every start, and tells the rule once`, async () => {
    const world = await World.create({ ...group, operators: 1 });
    forbidLeases(world, verb);
    world.onEnded.add(() => world.replaceOperator(seconds(1)));
    const rules: unknown[] = [];
    world.onLog.add(({ fields }) => rules.push(fields['rules']));
    await world.readyOperator();
    await world.setImage(images.new);
    await world.untilRolled(images.new, minutes(10));
    const named = verb === 'create' ? '' : "resourceNames: ['rollout-operator'], ";
    assert.deepEqual(
      rules.filter((rule) => rule !== undefined),
      [`[{apiGroups: [coordination.k8s.io], resources: [leases], ${named}verbs: [${verb}]}]`],
    );
    assertKept(world);
    await world.close();
  });
}

test('an API server that is away for 20 s every two minutes does not keep a rollout of one pod a time from ending within an hour [LIVE-1]', async () => {
  const world = await World.create({ ...group, operators: 1 });
  world.onEnded.add(() => world.replaceOperator(seconds(1)));
  await world.readyOperator();
  await world.clock.advance(minutes(2));
  for (let round = 0; round < 30; round += 1) {
    await world.clock.advance(seconds(100));
    const heal = world.cluster.faults.add({
      match: { user: OPERATOR_USER },
      action: { kind: 'error', code: 503 },
    });
    await world.clock.advance(seconds(20));
    heal();
    if (round === 0) await world.setImage(images.new);
  }
  const { length } = deletedPods(world);
  await world.close();
  assert.equal(length, 12);
});
