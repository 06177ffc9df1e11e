/** Budgets whose zones lose their sets, while something is given away there, and without. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { World } from '#support/world/world.ts';
import { images, NAMESPACE, setName } from '#support/world/world-group.ts';
import { endAll, ledUnderBudget, threeByThree } from '../stages/eviction-replica.ts';
import { deletedPods } from '../stages/rollout-stage.ts';

async function orphan(world: World): Promise<void> {
  const key = { namespace: NAMESPACE, name: setName('a') };
  const options = { preconditions: {}, propagationPolicy: 'Orphan' } as const;
  await world.run(world.admin.delete(resourceTypes.statefulSets, key, options));
}

test('[found R-2] a zone from which a pod was evicted counts although its set was deleted without its pods [BUDG-2, EXCL-1]', async () => {
  const { world, two } = await ledUnderBudget();
  world.kubelet.behaviours.add({ behave: 'neverReady', match: { name: 'ingester-zone-a-0' } });
  assert.equal(await two.evict('a-0'), 'allowed');
  await world.deletePod('ingester-zone-a-0');
  await world.clock.advance(seconds(10));
  assert.match(await two.evict('b-0'), /^429 .*ingester-zone-a/);
  await orphan(world);
  for (const wait of [seconds(2), seconds(30), minutes(3), minutes(30)]) {
    await world.clock.advance(wait);
    assert.match(await two.evict('b-0'), /^429 .*in ingester-zone-a .*ingester-zone-a-[12]/);
  }
  await world.setImage(images.new, ['b', 'c']);
  await world.clock.advance(minutes(3));
  assert.deepEqual(deletedPods(world), []);
  await endAll(world, two);
});

test('[found S-2] a zone whose set was deleted without its pods counts while it is at rest, too, until they are gone', async () => {
  const { world, two } = await ledUnderBudget(undefined, threeByThree);
  await orphan(world);
  await world.clock.advance(seconds(2));
  assert.match(
    await two.evict('b-0'),
    /^429 3 pods unknown in ingester-zone-a .*: ingester-zone-a-0 has no StatefulSet any more/,
  );
  for (const ordinal of [0, 1, 2]) await world.deletePod(`ingester-zone-a-${ordinal}`);
  await world.clock.advance(minutes(1));
  assert.equal(await two.evict('b-0'), 'allowed');
  await endAll(world, two);
});

test('[found R-2] what was given away counts for two minutes after its set and its pods are gone', async () => {
  const { world, two } = await ledUnderBudget();
  assert.equal(await two.evict('a-0'), 'allowed');
  const key = { namespace: NAMESPACE, name: setName('a') };
  await world.run(world.admin.delete(resourceTypes.statefulSets, key, { preconditions: {} }));
  await world.clock.runUntil(
    () => !world.names('pods').some((name) => name.startsWith(setName('a'))),
  );
  assert.match(await two.evict('b-0'), /^429 .*ingester-zone-a/);
  await world.clock.advance(minutes(3));
  assert.equal(await two.evict('b-0'), 'allowed');
  await endAll(world, two);
});
