/** What a hostile review of disruption budgets tried: budgets, labels and sets that change while something is given away. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import type { World } from '#support/world/world.ts';
import { GROUP, images } from '#support/world/world-group.ts';
import {
  dropBudget,
  givenAway,
  makeBudget,
  patchBudget,
  patchPod,
} from '../stages/budget-stage.ts';
import { endAll, ledUnderBudget } from '../stages/eviction-replica.ts';
import { assertAtRest, deletedPods } from '../stages/rollout-stage.ts';

const changes: Record<string, (world: World) => Promise<void>> = {
  'the set of the pod loses and regains its label': async (world) => {
    await world.patchSet('a', { metadata: { labels: { app: null } } });
    await world.clock.advance(seconds(8));
    await world.patchSet('a', { metadata: { labels: { app: GROUP } } });
  },
  'the selector is changed and changed back': async (world) => {
    await patchBudget(world, { selector: { matchLabels: { app: 'other' } } });
    await world.clock.advance(seconds(8));
    await patchBudget(world, { selector: { matchLabels: { app: GROUP } } });
  },
  'the budget is deleted and made again': async (world) => {
    await dropBudget(world);
    await world.clock.advance(seconds(1));
    await makeBudget(world);
  },
  'the pod loses and regains its label': async (world) => {
    await patchPod(world, 'ingester-zone-a-0', { labels: { app: null } });
    await world.clock.advance(seconds(8));
    await patchPod(world, 'ingester-zone-a-0', { labels: { app: GROUP } });
  },
  'the budget cannot be read for a while': async (world) => {
    await patchBudget(world, { podNamePartitionRegex: '([bad' });
    await world.clock.advance(seconds(8));
    await patchBudget(world, { podNamePartitionRegex: null });
  },
  'another budget overlaps for a while': async (world) => {
    await makeBudget(world, {}, 'other');
    await world.clock.advance(seconds(8));
    await dropBudget(world, 'other');
  },
};

/** After which another ledger counts. */
const renamings: typeof changes = {
  'the budget goes, and another one selects its pods by then': async (world) => {
    await makeBudget(world, { selector: { matchLabels: { app: 'other' } } }, 'renamed');
    await world.clock.advance(seconds(20));
    await dropBudget(world);
    await patchBudget(world, { selector: { matchLabels: { app: GROUP } } }, 'renamed');
  },
  'the budget is deleted and made again under another name': async (world) => {
    await dropBudget(world);
    await makeBudget(world, {}, 'renamed');
  },
  'the budget is replaced by one of another name, which is made first': async (world) => {
    await makeBudget(world, {}, 'renamed');
    await dropBudget(world);
  },
};

for (const [what, change] of Object.entries({ ...changes, ...renamings })) {
  test(`what an eviction was given stays given while ${what} (BUDG-4)`, async () => {
    const { world, two } = await ledUnderBudget();
    assert.equal(await two.evict('a-0'), 'allowed');
    await change(world);
    await world.clock.advance(seconds(1));
    assert.match(await two.evict('b-0'), /^429 /);
    for (const name of [GROUP, 'renamed']) {
      assert.ok(givenAway(world, name)?.includes('ingester-zone-b-0') !== true);
    }
    await endAll(world, two);
  });
}

for (const [what, change] of Object.entries(changes)) {
  test(`a deletion that is under way keeps other zones while ${what} (EXCL-1)`, async () => {
    const { world, operator, two } = await ledUnderBudget();
    world.cluster.faults.add({
      match: { client: operator.client, verb: 'delete', resource: 'pods' },
      action: { kind: 'delay', delay: seconds(25) },
      count: 1,
    });
    await world.setImage(images.new);
    await world.clock.advance(seconds(2));
    assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
    await change(world);
    await world.clock.advance(seconds(1));
    assert.match(await two.evict('b-0'), /^429 /);
    assert.deepEqual(deletedPods(world), []);
    await world.untilRolled(images.new);
    await world.clock.advance(seconds(30));
    assert.equal(deletedPods(world).length, 9);
    assert.deepEqual(givenAway(world), []);
    await endAll(world, two);
  });
}

test('a limit that is lowered in the middle of a batch lets one pod go at a time from then on', async () => {
  const twelve = { replicas: 12, maxUnavailable: '5' };
  const { world, two } = await ledUnderBudget({ maxUnavailable: 5 }, twelve);
  await world.setImage(images.new);
  await world.clock.advance(seconds(1));
  assert.equal(deletedPods(world).length, 5);
  await patchBudget(world, { maxUnavailable: 1 });
  await world.clock.advance(seconds(1));
  for (let at = 0; at < 60; at += 1) {
    const before = deletedPods(world).length;
    await world.clock.advance(seconds(1));
    assert.ok(deletedPods(world).length - before <= 1);
  }
  await world.untilRolled(images.new);
  await assertAtRest(world);
  assert.deepEqual(givenAway(world), []);
  await endAll(world, two);
});

test('a limit that is lowered while an eviction waits for the ledger counts for that eviction', async () => {
  const { world, two } = await ledUnderBudget({ maxUnavailable: 2 });
  assert.equal(await two.evict('a-0'), 'allowed');
  await world.clock.advance(seconds(15));
  world.cluster.faults.add({
    match: { client: 'two', verb: 'get', resource: 'configmaps' },
    action: { kind: 'delay', delay: seconds(3) },
    count: 1,
  });
  const asked = two.ask('a-1');
  await world.clock.advance(seconds(1));
  assert.equal(world.cluster.faults.hits.length, 1);
  await patchBudget(world, { maxUnavailable: 1 });
  assert.match((await world.run(asked)).answer, /^429 1 pod not ready in ingester-zone-a/);
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  await endAll(world, two);
});

test('a percentage counts on as replicas change', async () => {
  const spec = { maxUnavailablePercentage: 34 };
  const { world, two } = await ledUnderBudget(spec, { replicas: 6, maxUnavailable: '6' });
  await world.setImage(images.new);
  await world.clock.advance(seconds(1));
  assert.equal(deletedPods(world).length, 2);
  for (const zone of world.zones) await world.patchSet(zone, { spec: { replicas: 3 } });
  await world.clock.advance(minutes(1));
  await world.untilRolled(images.new);
  await assertAtRest(world);
  assert.deepEqual(givenAway(world), []);
  await endAll(world, two);
});

test('a budget with the longest name that the API takes lets a rollout go (LIVE-1)', async () => {
  const { world, two } = await ledUnderBudget();
  await dropBudget(world);
  const name = Array.from({ length: 4 }, () => 'x'.repeat(62)).join('.');
  await makeBudget(world, undefined, name);
  await world.clock.advance(seconds(11));
  await world.setImage(images.new);
  await world.clock.advance(minutes(10));
  assert.equal(deletedPods(world).length, 9);
  await endAll(world, two);
});

test('a group whose sets leave it while a pod is reserved leaves nothing in the ledger', async () => {
  const { world, operator, two } = await ledUnderBudget();
  world.cluster.faults.add({
    match: { client: operator.client, verb: 'update', resource: 'configmaps' },
    action: { kind: 'delay', delay: seconds(2), when: 'after' },
    count: 1,
  });
  await world.setImage(images.new);
  await world.clock.advance(seconds(1));
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  for (const zone of world.zones) {
    await world.patchSet(zone, { metadata: { labels: { 'rollout-group': null } } });
  }
  await world.clock.advance(minutes(3));
  assert.deepEqual(deletedPods(world), []);
  assert.deepEqual(givenAway(world), []);
  await endAll(world, two);
});

test('rollbacks every 3 s do not let the ledger grow, and leave nothing in it', async () => {
  const six = { replicas: 6, maxUnavailable: '3' };
  const { world, two } = await ledUnderBudget({ maxUnavailable: 3 }, six);
  for (let at = 0; at < 20; at += 1) {
    await world.setImage(at % 2 === 0 ? images.new : images.old);
    await world.clock.advance(seconds(3));
    assert.ok((givenAway(world) ?? []).length <= 6);
  }
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  await assertAtRest(world);
  assert.deepEqual(givenAway(world), []);
  await endAll(world, two);
});
