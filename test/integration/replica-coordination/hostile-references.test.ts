import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { mirrorAnnotations } from '#support/objects/scaling.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { forEver } from '../stages/hostile-stage.ts';
import { deletedPods } from '../stages/rollout-stage.ts';
import { annotateSet, autoscale, createTemplate } from '../stages/scaling-stage.ts';

const group: WorldOptions = { replicas: 3, maxUnavailable: '1' };

test('nine pods are rolled within 8 minutes although three mirrored scales never answer [SC-3]', async () => {
  const world = await World.create(group);
  for (const zone of world.zones) {
    await createTemplate(world, `t-${zone}`, 3);
    await annotateSet(world, zone, mirrorAnnotations(`t-${zone}`));
  }
  const operator = await world.readyOperator();
  await world.clock.advance(seconds(30));
  world.cluster.faults.add({
    match: { client: operator.client, verb: 'get', subresource: 'scale' },
    action: { kind: 'delay', delay: forEver },
  });
  for (const zone of world.zones) {
    await autoscale(world, { type: resourceTypes.replicaTemplates, name: `t-${zone}` }, 4);
  }
  await world.setImage(images.new);
  await world.clock.advance(minutes(8));
  const { length } = deletedPods(world);
  await world.close();
  assert.equal(length, 9);
});

test('a mirrored scale that fails is read at most 20 times a minute, however often what is mirrored changes', async () => {
  const world = await World.create({ ...group, zones: ['a'] });
  await createTemplate(world, 'ingester', 3);
  await annotateSet(world, 'a', mirrorAnnotations('ingester'));
  const operator = await world.readyOperator();
  await world.clock.advance(seconds(30));
  const { faults } = world.cluster;
  faults.add({
    match: { client: operator.client, verb: 'get', subresource: 'scale' },
    action: { kind: 'error', code: 500 },
  });
  for (let turn = 0; turn < 120; turn += 1) {
    await autoscale(
      world,
      { type: resourceTypes.replicaTemplates, name: 'ingester' },
      4 + (turn % 2),
    );
    await world.clock.advance(millis(500));
  }
  const reads = faults.hits.length;
  await world.close();
  assert.ok(reads > 0 && reads <= 20, `${reads} reads`);
});
