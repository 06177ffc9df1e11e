/** Sets that a StatefulsetRollout and something else name, in one process that runs everything: nobody moves them (D-63). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '#base/units.ts';
import { textAt } from '#cluster/json/read-json.ts';
import type { World } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';
import { movedByNobody, type NamingKind, namingKinds } from './all-kinds.ts';
import {
  carrierState,
  createCarrier,
  deleteCarrier,
  hasCarrier,
  installCarriers,
  untilCarried,
} from './all-rollouts-stage.ts';
import { imageOf, messagesOf, newPodsOf, patchAny, until } from './all-stage.ts';
import { changeWeb, createWeb, installZones, openZoned, untilWeb } from './all-zones-stage.ts';

const sr = 'StatefulsetRollout sr';
const set = 'ingester-zone-b';

/** What operators did to the set `name`, and to its pods. */
function doneTo(world: World, name: string): readonly string[] {
  return world.cluster.eventLog.calls
    .filter((call) => call.user === OPERATOR_USER && [200, 201].includes(Number(call.outcome)))
    .filter((call) => ['patch', 'update', 'delete', 'create'].includes(call.verb))
    .filter((call) => ['pods', 'statefulsets'].includes(call.resource.split('.')[0] ?? ''))
    .filter((call) => call.name === name || call.name.startsWith(`${name}-`))
    .map(({ verb, resource, name: object }) => `${verb} ${resource} ${object}`);
}

/** Whether the set `name` carries the mark of the StatefulsetRollout. */
function isMarked(world: World, name: string): boolean {
  const stored = world.stored('statefulsets.apps', name);
  const key = 'bedrock.operator.slack.com/rollout';
  return textAt(stored, 'metadata', 'annotations', key) !== '';
}

/** A set `web` that is in no group, in a world where all kinds can be made. */
async function withWeb(): Promise<World> {
  const world = await openZoned();
  await createWeb(world);
  for (const { install } of Object.values(namingKinds)) await install(world);
  return world;
}

const others: Readonly<Record<string, NamingKind>> = {
  PhasedRollout: namingKinds.PhasedRollout,
  ZoneAwareUpdate: namingKinds.ZoneAwareUpdate,
};

for (const [kind, other] of Object.entries(others)) {
  test(`a set that a StatefulsetRollout and a ${kind} name is moved by neither, both say which, and the StatefulsetRollout goes on at once without the other`, async () => {
    const world = await withWeb();
    await other.create(world, 'web');
    await createCarrier(world, 'web', { image: 'web:2', replicas: 9 });
    await world.readyOperator();
    await world.clock.advance(minutes(10));
    assert.deepEqual(doneTo(world, 'web'), []);
    assert.equal(carrierState(world), 'Pending ConflictingOwners');
    assert.equal(namingKinds.StatefulsetRollout.contest(world), movedByNobody('web', other.named));
    assert.equal(other.contest(world), movedByNobody('web', sr));
    await other.remove(world);
    await untilWeb(world, 'web:2');
    await until(world, 'it is done', () => carrierState(world) === 'RolloutDone RolloutDone');
    await world.close();
  });

  test(`a set that was rolled out by a StatefulsetRollout, and that a ${kind} names later, is contested although nothing is to be done, and let go at the end`, async () => {
    const world = await withWeb();
    await world.readyOperator();
    await createCarrier(world, 'web', { image: 'web:2', replicas: 9 });
    await untilWeb(world, 'web:2');
    await until(world, 'it is done', () => carrierState(world) === 'RolloutDone RolloutDone');
    await other.create(world, 'web');
    await until(world, 'the other says so', () => other.contest(world) !== '');
    await until(
      world,
      'it says so',
      () => namingKinds.StatefulsetRollout.contest(world) === movedByNobody('web', other.named),
    );
    assert.equal(other.contest(world), movedByNobody('web', sr));
    const before = doneTo(world, 'web');
    await changeWeb(world, 'web:3');
    await world.clock.advance(minutes(10));
    assert.deepEqual(doneTo(world, 'web'), before);
    assert.ok(isMarked(world, 'web'));
    await deleteCarrier(world);
    await until(world, 'it has gone', () => !hasCarrier(world));
    assert.ok(!isMarked(world, 'web'));
    await until(world, 'the other has it', () => other.contest(world) === '');
    await world.close();
  });
}

test('a ZoneAwareUpdate rolls a set at once that a StatefulsetRollout has let go', async () => {
  const world = await withWeb();
  await createCarrier(world, 'web', { image: 'web:1', replicas: 9 });
  await namingKinds.ZoneAwareUpdate.create(world, 'web');
  await world.readyOperator();
  await changeWeb(world, 'web:2');
  await world.clock.advance(minutes(5));
  assert.equal(imageOf(world, 'web-0'), 'web:1');
  await deleteCarrier(world);
  await untilWeb(world, 'web:2');
  await world.close();
});

test('a set of a group that a StatefulsetRollout names is moved by neither, both say which, and its group has it back', async () => {
  const world = await openZoned();
  await installCarriers(world);
  await createCarrier(world, set);
  await world.readyOperator();
  await world.setImage(images.new);
  await world.clock.advance(minutes(10));
  assert.deepEqual(
    world.zones.map((zone) => newPodsOf(world, zone)),
    [2, 0, 2],
  );
  assert.deepEqual(doneTo(world, set), []);
  assert.deepEqual(messagesOf(world, set, 'ConflictingOwners'), [movedByNobody(set, sr)]);
  assert.equal(
    namingKinds.StatefulsetRollout.contest(world),
    movedByNobody(set, 'rollout group ingester'),
  );
  await deleteCarrier(world);
  await world.untilRolled(images.new);
  assert.ok(!hasCarrier(world));
  await world.close();
});

test('a set that a StatefulsetRollout has made, and that gets the label of a group, is contested until it has lost it', async () => {
  const world = await openZoned();
  await installCarriers(world);
  await world.readyOperator();
  await createCarrier(world, 'made');
  await untilCarried(world, 'made', 'carried:1');
  await until(world, 'it is done', () => carrierState(world) === 'RolloutDone RolloutDone');
  await patchAny(world, 'made', { metadata: { labels: { 'rollout-group': 'ingester' } } });
  const contest = (): string => namingKinds.StatefulsetRollout.contest(world);
  await until(world, 'it says so', () => contest() !== '');
  assert.equal(contest(), movedByNobody('made', 'rollout group ingester'));
  assert.deepEqual(messagesOf(world, 'made', 'ConflictingOwners'), [movedByNobody('made', sr)]);
  // As what made the set says, which is deleted: it goes with it.
  await deleteCarrier(world);
  await until(world, 'it has gone', () => !hasCarrier(world));
  assert.equal(world.stored('statefulsets.apps', 'made'), undefined);
  await world.close();
});

test('a StatefulsetRollout writes and evicts nothing while others may name its set that could not be listed yet', async () => {
  const world = await openZoned();
  await createWeb(world);
  await installZones(world);
  await installCarriers(world);
  const disarm = world.cluster.faults.add({
    match: { user: OPERATOR_USER, resource: namingKinds.ZoneAwareUpdate.plural },
    action: { kind: 'error', code: 500 },
  });
  await createCarrier(world, 'web', { image: 'web:2', replicas: 9 });
  await world.readyOperator();
  await world.clock.advance(minutes(5));
  assert.deepEqual(doneTo(world, 'web'), []);
  assert.equal(carrierState(world), 'Pending ViewNotFresh');
  disarm();
  await untilWeb(world, 'web:2');
  await world.close();
});
