/** A rollout whose watches say nothing, while reads are answered as ever. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { World } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { OPERATOR_USER, usualRenewals } from '#support/world/world-operator.ts';
import { assertKept, deletedPods } from '../stages/rollout-stage.ts';

test('a rollout goes on by reads while all watches of sets and pods are silent, at most 65 s apart [found S-6]', async () => {
  const world = await World.create({
    replicas: 4,
    maxUnavailable: '1',
    operators: 1,
    flags: usualRenewals,
  });
  await world.readyOperator();
  await world.clock.advance(minutes(3));
  await world.setImage(images.new);
  await world.clock.runUntil(() => deletedPods(world).length === 2, { maxVirtual: minutes(5) });
  const { faults } = world.cluster;
  const watch = { user: OPERATOR_USER, verb: 'watch' };
  const heal = ['pods', 'statefulsets.apps'].map((resource) => {
    for (const open of faults.watches({ user: OPERATOR_USER, resource })) open.pause();
    return faults.add({
      match: { ...watch, resource: resource.replace('.apps', '') },
      action: { kind: 'watch', action: 'pause' },
    });
  });
  const silentFrom = world.clock.now();
  await world.clock.advance(minutes(4));
  // A cache is listed anew after 90 s of silence: by that alone four pods have gone by now.
  assert.ok(deletedPods(world).length >= 8, `${deletedPods(world).length} pods`);
  const since = world.cluster.eventLog.calls
    .filter(({ verb, resource }) => verb === 'delete' && resource === 'pods')
    .map(({ startedAt }) => startedAt)
    .filter((at) => at > silentFrom);
  const pauses = since.map((at, index) => at - (since[index - 1] ?? silentFrom));
  assert.ok(Math.max(...pauses) <= 65_000, `${pauses.join(', ')} ms`);
  for (const end of heal) end();
  await world.clock.advance(seconds(100));
  await world.untilRolled(images.new);
  assert.equal(deletedPods(world).length, 12);
  assertKept(world);
  await world.close();
});
