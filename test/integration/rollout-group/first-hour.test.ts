/** Groups that are made soon after the very first start of the operator, where no Lease tells of a process before it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis, seconds } from '#base/units.ts';
import { objectAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { World } from '#support/world/world.ts';
import { images, NAMESPACE, setName } from '#support/world/world-group.ts';
import { deletedPods } from '../stages/rollout-stage.ts';

test('[found S-7] a group that is made just after the first start rolls at once: no earlier process can have disrupted it', async () => {
  const world = await World.create();
  await world.readyOperator();
  await world.clock.advance(seconds(5));
  await world.addGroup('store-gateway');
  const from = world.clock.now();
  await world.setImageOf('store-gateway', images.new);
  await world.clock.runUntil(() => deletedPods(world).length > 0);
  assert.ok(world.clock.now() - from < 5_000, `first after ${world.clock.now() - from} ms`);
  await world.close();
});

/** Deletes the set of `zone` without its pods. @returns its manifest */
async function orphan(world: World, zone: string): Promise<JsonObject> {
  const key = { namespace: NAMESPACE, name: setName(zone) };
  const stored = world.stored('statefulsets.apps', key.name);
  const options = { preconditions: {}, propagationPolicy: 'Orphan' } as const;
  await world.run(world.admin.delete(resourceTypes.statefulSets, key, options));
  const { labels, annotations } = objectAt(stored, 'metadata');
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { ...key, labels: labels ?? {}, annotations: annotations ?? {} },
    spec: objectAt(stored, 'spec'),
  };
}

test('[found S-7] sets that are made over older pods just after the first start wait as before: an earlier process may be at these', async () => {
  const world = await World.create();
  await world.setImage(images.new);
  const manifests: JsonObject[] = [];
  for (const zone of world.zones) manifests.push(await orphan(world, zone));
  await world.clock.advance(seconds(5));
  const from = world.clock.now();
  world.startOperator();
  await world.clock.advance(seconds(20));
  for (const body of manifests) {
    const at = { namespace: NAMESPACE };
    await world.run(world.admin.create(resourceTypes.statefulSets, at, { body }));
  }
  await world.clock.advance(millis(100_000 - (world.clock.now() - from)));
  assert.deepEqual(deletedPods(world), []);
  await world.clock.advance(seconds(60));
  assert.ok(deletedPods(world).length > 0);
  await world.close();
});

test('[found S-7] a group that was there at the first start, and in motion, waits for what may have been under way', async () => {
  const world = await World.create();
  await world.setImage(images.new);
  await world.readyOperator();
  await world.clock.advance(seconds(100));
  assert.deepEqual(deletedPods(world), []);
  await world.clock.advance(seconds(60));
  assert.ok(deletedPods(world).length > 0);
  await world.close();
});
