/** Processes that end before they did anything (D-50, WRIT-2). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { usualRenewals } from '#support/world/world-operator.ts';
import { deletedPods } from '../stages/rollout-stage.ts';

const group: WorldOptions = { replicas: 2, maxUnavailable: '1', flags: usualRenewals };

test('a process that is stopped before its caches are filled, and so sent nothing, costs its successor no wait', async () => {
  const world = await World.create(group);
  const first = await world.readyOperator();
  await world.clock.advance(minutes(1));
  await world.run(first.stop());
  world.cluster.faults.add({
    match: { client: 'operator-2', verb: ['list', 'watch'], resource: 'pods' },
    action: { kind: 'delay', delay: seconds(5) },
  });
  const second = world.startOperator();
  await world.clock.advance(seconds(2));
  await world.run(second.stop());
  world.startOperator();
  await world.setImage(images.new);
  await world.clock.advance(minutes(2));
  const { length } = deletedPods(world);
  await world.close();
  assert.equal(length, 6);
});
