import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { World } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { deletionsSince } from '../stages/hostile-stage.ts';

test('32 deletions that were refused at the same instant, to wait for 1 s, are tried again within 10 s', async () => {
  const world = await World.create({
    replicas: 40,
    maxUnavailable: '40',
    zones: ['a', 'b'],
    kubelet: { nodes: { count: 6 } },
  });
  const operator = await world.readyOperator();
  await world.clock.advance(seconds(30));
  world.cluster.faults.add({
    match: { client: operator.client, verb: 'delete', resource: 'pods' },
    count: 32,
    action: { kind: 'throttle', retryAfterSeconds: 1 },
  });
  const from = world.clock.now();
  await world.setImage(images.new, ['a']);
  await world.clock.advance(seconds(10));
  const { length } = deletionsSince(world, from);
  await world.close();
  assert.ok(length > 32, `${length} deletions in 10 s`);
});
