/** What a hostile review of disruption budgets tried: evictions that are allowed, one pod after the other, and never happen. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, millis, minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { World } from '#support/world/world.ts';
import { evict } from '#support/world/world-evictions.ts';
import { images, NAMESPACE } from '#support/world/world-group.ts';
import { endAll, ledUnderBudget } from '../stages/eviction-replica.ts';
import { assertKept, deletedPods } from '../stages/rollout-stage.ts';
import { reviewedWorld, zonesDown } from './incident-stage.ts';

/** Calls `ask` every 2.1 s until the rollout is complete. @returns after how long its first pod went */
async function untilRolled(
  world: World,
  ask: (at: number) => Promise<unknown>,
): Promise<Millis | undefined> {
  const begun = world.clock.now();
  let first: Millis | undefined;
  while (world.clock.now() - begun < minutes(60) && !world.isComplete(images.new)) {
    await ask(world.clock.now() - begun);
    await world.clock.advance(seconds(2.1));
    if (deletedPods(world).length > 0) first ??= millis(world.clock.now() - begun);
  }
  return first;
}

for (const every of [seconds(2.1), seconds(100)]) {
  test(`[found X-1] a rollout comes to its end while an evictor asks for pods of a zone that never go, another every ${every / 1_000} s (LIVE-1)`, async () => {
    const { world, two } = await ledUnderBudget({ maxUnavailable: 3 });
    assert.equal(await two.evict('c-0'), 'allowed');
    await world.setImage(images.new);
    const first = await untilRolled(world, (at) => two.evict(`c-${Math.floor(at / every) % 3}`));
    assert.ok(first !== undefined && first <= minutes(9), `the first pod goes after ${first} ms`);
    assert.ok(world.isComplete(images.new));
    assertKept(world);
    await endAll(world, two);
  });
}

test('[found X-1] a rollout comes to its end while a drain goes from pod to pod of a zone, and a native budget refuses each (LIVE-1)', async () => {
  const world = await nativelyKept();
  const most = zonesDown(world);
  const answer = await evict(world, 'ingester-zone-c-0');
  assert.match(answer, /^429 .*: Cannot evict pod as it would violate the pod's disruption budget/);
  await world.setImage(images.new);
  const podAt = (at: number): string => `ingester-zone-c-${Math.floor(at / minutes(2)) % 3}`;
  const first = await untilRolled(world, (at) => evict(world, podAt(at)));
  assert.ok(first !== undefined && first <= minutes(9), `the first pod goes after ${first} ms`);
  assert.ok(world.isComplete(images.new));
  assert.equal(most(), 1);
  await world.close();
});

test('[found X-1] an eviction that happens 110 s after it was allowed is still waited for while evictions of its zone rest', async () => {
  const { world, two } = await ledUnderBudget({ maxUnavailable: 3 });
  const most = zonesDown(world);
  assert.equal(await two.evict('c-0'), 'allowed');
  await world.setImage(images.new);
  let answer = 'allowed';
  for (let at = 0; at < 120 && answer === 'allowed'; at += 1) {
    await world.clock.advance(seconds(5));
    answer = await two.evict(`c-${Math.floor(at / 20) % 3}`);
  }
  const rested =
    /^429 .*evictions in ingester-zone-c were allowed for 5 minutes, and no pod has gone/;
  assert.match(answer, rested);
  await world.clock.advance(seconds(75));
  assert.deepEqual(deletedPods(world), []);
  // The last one that was allowed goes after all.
  await world.deletePod('ingester-zone-c-2');
  await world.untilRolled(images.new, minutes(20));
  assert.equal(most(), 1);
  assertKept(world);
  await endAll(world, two);
});

/** Three zones under a budget of three pods, and a native budget that refuses, after us, that pods of zone c are evicted. */
async function nativelyKept(): Promise<World> {
  const world = await reviewedWorld(1, {}, { maxUnavailable: 3 });
  const selector = { matchLabels: { name: 'ingester-zone-c' } };
  const at = { namespace: NAMESPACE, name: 'c' };
  const body = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'c' },
    spec: { maxUnavailable: 0, selector },
  };
  await world.run(world.admin.create(resourceTypes.podDisruptionBudgets, at, { body }));
  await world.clock.advance(seconds(15));
  return world;
}
