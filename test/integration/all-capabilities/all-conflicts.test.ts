/** Sets that two capabilities name, and which neither moves (D-63): what can really meet, and how it ends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import type { World } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';
import { eventReasons } from '../stages/rollout-stage.ts';
import {
  changeDb,
  createDb,
  createRollout,
  deleteRollout,
  hasRollout,
  installRollouts,
  messagesOf,
  newPodsOf,
  openBoth,
  ownerOf,
  partitionOf,
  patchAny,
  patchRollout,
  phaseOf,
  readyMessage,
  until,
} from './all-stage.ts';

const set = 'ingester-zone-b';
const both = `${set} is left alone, as PhasedRollout pr1 would move it, too`;

/** What operators did to the set `name`, and to its pods. */
function doneTo(world: World, name: string): readonly string[] {
  return world.cluster.eventLog.calls
    .filter((call) => call.user === OPERATOR_USER && call.outcome === 200)
    .filter((call) => ['patch', 'update', 'delete'].includes(call.verb))
    .filter((call) => ['pods', 'statefulsets'].includes(call.resource.split('.')[0] ?? ''))
    .filter((call) => call.name === name || call.name.startsWith(`${name}-`))
    .map(({ verb, resource, name: object }) => `${verb} ${resource} ${object}`);
}

/** A group whose zone b a PhasedRollout names, which operators of both kinds have seen. */
async function contested(): Promise<World> {
  const world = await openBoth();
  await installRollouts(world);
  await createRollout(world, set);
  await world.readyOperator();
  await until(world, 'it says so', () => phaseOf(world) !== '');
  return world;
}

test('a set under OnDelete that a group and a PhasedRollout name is moved by neither, and both say which', async () => {
  const world = await contested();
  await world.setImage(images.new);
  await world.clock.advance(minutes(10));
  assert.deepEqual(doneTo(world, set), []);
  assert.equal(phaseOf(world), 'ErrorCannotManage');
  assert.equal(
    readyMessage(world),
    `${set} is left alone, as rollout group ingester would move it, too`,
  );
  assert.deepEqual(messagesOf(world, set, 'ConflictingOwners'), [both]);
  assert.equal(messagesOf(world, 'pr1', 'ConflictingOwners').length, 1);
  // The other sets of the group go on: what is contested is left alone as if it were paused.
  assert.deepEqual(
    world.zones.map((zone) => newPodsOf(world, zone)),
    [2, 0, 2],
  );
  await world.close();
});

test('a contested set that lacks a pod holds the others of its group', async () => {
  const world = await contested();
  world.kubelet.behaviours.add({ match: { name: `${set}-0` }, behave: 'neverReady' });
  await world.deletePod(`${set}-0`);
  await world.setImage(images.new, ['a', 'c']);
  await world.clock.advance(minutes(10));
  assert.deepEqual(
    world.zones.map((zone) => newPodsOf(world, zone)),
    [0, 0, 0],
  );
  assert.ok(eventReasons(world, set).includes('ZoneNotReady'));
  await world.close();
});

for (const [what, end] of Object.entries({
  'the PhasedRollout is deleted': (world: World) => deleteRollout(world),
  'the PhasedRollout targets another set': (world: World) =>
    patchRollout(world, { spec: { targetRef: 'another' } }),
})) {
  test(`a contested set is rolled out by its group at once when ${what}`, async () => {
    const world = await contested();
    await world.setImage(images.new);
    await world.clock.advance(minutes(5));
    assert.equal(newPodsOf(world, 'b'), 0);
    await end(world);
    await world.clock.advance(seconds(2));
    assert.ok(doneTo(world, set).length > 0);
    await world.untilRolled(images.new);
    await world.close();
  });
}

test('a PhasedRollout that is deleted lets a contested set go that it owned, and only then is its group on with it', async () => {
  const world = await openBoth();
  await installRollouts(world);
  // It owns the set from a time before the set had the label of a group.
  await patchAny(world, set, { metadata: { labels: { 'rollout-group': null } } });
  await world.readyOperator();
  await createRollout(world, set);
  await until(world, 'it is owned', () => ownerOf(world, set) === 'pr1');
  await patchAny(world, set, { metadata: { labels: { 'rollout-group': 'ingester' } } });
  await world.setImage(images.new);
  await world.clock.advance(minutes(5));
  assert.equal(newPodsOf(world, 'b'), 0);
  assert.match(readyMessage(world), /as rollout group ingester would move it, too$/);
  await deleteRollout(world);
  await world.untilRolled(images.new);
  assert.equal(hasRollout(world), false);
  assert.equal(ownerOf(world, set), '');
  await world.close();
});

test('a PhasedRollout that another client keeps from going, and that has let its set go, names it no longer', async () => {
  const world = await contested();
  await patchRollout(world, {
    metadata: { finalizers: ['sts.plus/finalizer', 'example.com/kept'] },
  });
  await world.setImage(images.new);
  await world.clock.advance(minutes(5));
  assert.equal(newPodsOf(world, 'b'), 0);
  await deleteRollout(world);
  await world.untilRolled(images.new);
  assert.equal(hasRollout(world), true);
  await patchRollout(world, { metadata: { finalizers: [] } });
  await world.close();
});

test('a PhasedRollout that comes in the middle of the rollout of its set stops that before the next pod', async () => {
  const world = await openBoth({ replicas: 4 });
  await installRollouts(world);
  await world.readyOperator();
  await world.setImage(images.new, ['b']);
  await until(world, 'one is new', () => newPodsOf(world, 'b') === 1);
  await createRollout(world, set);
  await world.clock.advance(minutes(10));
  // The pod that was on its way when it came may be the second.
  assert.ok(newPodsOf(world, 'b') <= 2, `${newPodsOf(world, 'b')} are new`);
  const before = doneTo(world, set);
  await world.clock.advance(minutes(10));
  assert.deepEqual(doneTo(world, set), before);
  assert.equal(phaseOf(world), 'ErrorCannotManage');
  await world.close();
});

test('the label of a group names no set under RollingUpdate: its PhasedRollout rolls it, and the group touches nothing', async () => {
  const world = await openBoth();
  await installRollouts(world);
  await createDb(world);
  await patchAny(world, 'db', { metadata: { labels: { 'rollout-group': 'ingester' } } });
  await world.readyOperator();
  await createRollout(world, 'db');
  await until(world, 'it is taken over', () => partitionOf(world) === 3);
  await changeDb(world, 'db:2');
  await until(
    world,
    'it is rolled',
    () => phaseOf(world) === 'Updated' && partitionOf(world) === 3,
  );
  assert.equal(messagesOf(world, 'db', 'ConflictingOwners').length, 0);
  assert.equal(messagesOf(world, 'db', 'WrongUpdateStrategy').length, 1);
  await world.close();
});

test('a set that is switched to OnDelete in the middle of its rollout by phases is not taken over by its group', async () => {
  const world = await openBoth();
  await installRollouts(world);
  await createDb(world);
  await patchAny(world, 'db', { metadata: { labels: { 'rollout-group': 'db' } } });
  await world.readyOperator();
  await createRollout(world, 'db');
  await until(world, 'it is taken over', () => partitionOf(world) === 3);
  await changeDb(world, 'db:2');
  await until(world, 'one may go', () => partitionOf(world) === 2);
  await patchAny(world, 'db', {
    spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } },
  });
  const before = doneTo(world, 'db').filter((each) => each.startsWith('delete'));
  await world.clock.advance(minutes(10));
  assert.deepEqual(
    doneTo(world, 'db').filter((each) => each.startsWith('delete')),
    before,
  );
  assert.equal(phaseOf(world), 'ErrorCannotManage');
  assert.equal(readyMessage(world), 'db is left alone, as rollout group db would move it, too');
  // Without its PhasedRollout it is its group's.
  await deleteRollout(world);
  await until(world, 'it is promoted', () => eventReasons(world, 'db').includes('ZoneUpdated'));
  await world.close();
});
