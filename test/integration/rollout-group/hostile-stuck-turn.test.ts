import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { World } from '#support/world/world.ts';
import { images, setName } from '#support/world/world-group.ts';
import { annotateSet } from '../stages/scaling-stage.ts';

const zones = ['a', 'b'];

/** A world all of whose pods crash again and again, and are to go to an image that does not. */
async function crashingWorld(limit: string): Promise<World> {
  const world = await World.create({ replicas: 3, maxUnavailable: limit, zones });
  await world.readyOperator();
  await world.clock.advance(minutes(1));
  world.kubelet.behaviours.add({ behave: 'crashLoop', match: { image: images.new } });
  await world.setImage(images.new);
  for (const zone of zones)
    await annotateSet(world, zone, { 'grafana.com/rollout-paused': 'true' });
  for (const zone of zones) {
    for (const ordinal of [0, 1, 2]) await world.deletePod(`${setName(zone)}-${ordinal}`);
  }
  await world.clock.advance(minutes(2));
  await world.setImage(images.next);
  return world;
}

async function unpause(world: World): Promise<void> {
  for (const zone of zones) await annotateSet(world, zone, { 'grafana.com/rollout-paused': null });
}

function violationsOf(world: World): readonly string[] {
  return world.judge().violations.map(({ id, message }) => `${id}: ${message}`);
}

for (const limit of ['1', '3']) {
  test(`with a limit of ${limit}, stuck pods of the next zone stay while one that was replaced still terminates, its container already ended [EXCL-1]`, async () => {
    const world = await crashingWorld(limit);
    await unpause(world);
    await world.clock.advance(seconds(60));
    await world.untilRolled(images.next);
    assert.deepEqual(violationsOf(world), []);
    await world.close();
  });

  test(`with a limit of ${limit}, stuck pods of the next zone stay while the successor of one that was replaced is not made yet [EXCL-1]`, async () => {
    const world = await crashingWorld(limit);
    world.cluster.faults.add({
      match: { verb: 'create', resource: 'pods' },
      action: { kind: 'delay', delay: seconds(3) },
    });
    await unpause(world);
    await world.untilRolled(images.next);
    assert.deepEqual(violationsOf(world), []);
    await world.close();
  });
}

test('stuck pods of the next zone stay while one that was replaced terminates, although its template was changed back [EXCL-1]', async () => {
  const world = await crashingWorld('3');
  world.kubelet.behaviours.add({
    behave: 'stuckTerminating',
    match: { name: `${setName('a')}-2` },
  });
  await unpause(world);
  await world.clock.advance(seconds(1));
  await world.setImage(images.new, ['a']);
  await world.clock.advance(minutes(2));
  const violations = violationsOf(world);
  await world.close();
  assert.deepEqual(violations, []);
});

test('stuck pods of the next zone do not wait for ever for the successor of one that was replaced and cannot be made [LIVE-3]', async () => {
  const world = await crashingWorld('3');
  world.cluster.faults.add({
    match: { verb: 'create', resource: 'pods', name: `${setName('a')}-*` },
    action: { kind: 'error', code: 403, reason: 'Forbidden', message: 'exceeded quota' },
  });
  world.cluster.faults.add({
    match: { verb: 'create', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(1) },
  });
  await unpause(world);
  await world.clock.advance(minutes(3));
  const replaced = world.cluster.eventLog.commits.some(
    ({ resource, name, after }) =>
      resource === 'pods' &&
      name === `${setName('b')}-0` &&
      after !== undefined &&
      JSON.stringify(after).includes(images.next),
  );
  await world.close();
  assert.ok(replaced);
});
