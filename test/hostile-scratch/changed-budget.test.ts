/** Budgets, labels and sets that change while something is given away. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, minutes, seconds } from '#base/units.ts';
import type { JsonObject } from '#base/json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { GROUP, images, NAMESPACE } from '#testing/world-group.ts';
import type { World } from '#testing/world.ts';
import type { OperatorRun } from '#testing/world-operator.ts';
import { budgetedWorld, dropBudget, givenAway, makeBudget } from '../integration/budget-stage.ts';
import { assertAtRest, blockedBy, deletedPods } from '../integration/rollout-stage.ts';
import { callsWithin, eventsAbout } from '../integration/hostile-stage.ts';
import { type Replica, replica } from './second-replica.ts';

const budgets = resourceTypes.zoneAwarePodDisruptionBudgets;

async function patchBudget(world: World, spec: JsonObject, name: string = GROUP): Promise<void> {
  const body = { kind: 'merge', document: { spec } } as const;
  await world.run(world.admin.patch(budgets, { namespace: NAMESPACE, name }, { body }));
}

interface Stage { readonly world: World; readonly operator: OperatorRun; readonly two: Replica }

async function stage(spec?: JsonObject, options: Parameters<typeof budgetedWorld>[0] = {}): Promise<Stage> {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1', ...options });
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(3));
  await makeBudget(world, spec);
  await world.clock.advance(seconds(11));
  const two = await replica(world, 'replica-2');
  await world.clock.advance(seconds(15));
  return { world, operator, two };
}

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
    const set = async (app: string | null): Promise<void> => {
      const body = { kind: 'merge', document: { metadata: { labels: { app } } } } as const;
      await world.run(world.admin.patch(resourceTypes.pods, { namespace: NAMESPACE, name: 'ingester-zone-a-0' }, { body }));
    };
    await set(null);
    await world.clock.advance(seconds(8));
    await set(GROUP);
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

for (const [what, change] of Object.entries(changes)) {
  test(`BUDG-4: what an eviction was given stays given while ${what}`, async () => {
    const { world, two } = await stage();
    assert.equal(await world.run(two.evict('ingester-zone-a-0')), 'allowed');
    await change(world);
    await world.clock.advance(seconds(1));
    const other = await world.run(two.evict('ingester-zone-b-0'));
    const left = givenAway(world);
    await two.stop();
    await world.close();
    assert.notEqual(other, 'allowed', String(left));
  });

  test(`EXCL: a DELETE that is under way stays in the ledger while ${what}`, async () => {
    const { world, operator, two } = await stage();
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
    const other = await world.run(two.evict('ingester-zone-b-0'));
    const left = givenAway(world);
    assert.deepEqual(deletedPods(world), []);
    await world.clock.advance(minutes(3));
    await world.untilRolled(images.new);
    await world.clock.advance(seconds(30));
    const after = givenAway(world);
    await two.stop();
    await world.close();
    assert.notEqual(other, 'allowed', String(left));
    assert.deepEqual(after, []);
  });
}

test('a limit that is lowered in mid-batch forbids new ones at once', async () => {
  const { world, two } = await stage({ maxUnavailable: 5 }, { replicas: 12, maxUnavailable: '5' });
  await world.setImage(images.new);
  await world.clock.advance(seconds(1));
  assert.equal(deletedPods(world).length, 5);
  await patchBudget(world, { maxUnavailable: 1 });
  await world.clock.advance(seconds(1));
  const names = ['zone-a', 'zone-b', 'zone-c'];
  void names;
  const most: number[] = [];
  for (let at = 0; at < 60; at += 1) {
    const before = deletedPods(world).length;
    await world.clock.advance(seconds(1));
    most.push(deletedPods(world).length - before);
  }
  assert.ok(Math.max(...most) <= 1, String(most));
  await world.untilRolled(images.new);
  await two.stop();
  await assertAtRest(world);
  assert.deepEqual(givenAway(world), []);
  await world.close();
});

test('a percentage counts on as replicas change', async () => {
  const { world, two } = await stage({ maxUnavailable: null, maxUnavailablePercentage: 34 }, { replicas: 6, maxUnavailable: '6' });
  await world.setImage(images.new);
  await world.clock.advance(seconds(1));
  assert.equal(deletedPods(world).length, 2);
  for (const zone of world.zones) await world.patchSet(zone, { spec: { replicas: 3 } });
  await world.clock.advance(minutes(1));
  await world.untilRolled(images.new);
  await two.stop();
  await assertAtRest(world);
  assert.deepEqual(givenAway(world), []);
  await world.close();
});

test('LIVE-1: a budget with the longest name that the API takes lets a rollout go', async () => {
  const world = await budgetedWorld({ replicas: 2, maxUnavailable: '1' });
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(3));
  const name = Array.from({ length: 4 }, () => 'x'.repeat(62)).join('.');
  await makeBudget(world, undefined, name);
  await world.clock.advance(seconds(11));
  await world.setImage(images.new);
  await world.clock.advance(minutes(10));
  const [gone, reason] = [deletedPods(world).length, await blockedBy(world, operator)];
  const said = eventsAbout(world, 'ingester-zone-a').map(({ message }) => message.slice(0, 300));
  await world.close();
  assert.ok(gone === 6, `${gone} pods, ${reason}: ${said.join('\n')}`);
});

test('a group whose sets are deleted while a pod is reserved leaves nothing in the ledger', async () => {
  const { world, operator, two } = await stage(undefined, { zones: ['a', 'b', 'c'] });
  world.cluster.faults.add({
    match: { client: operator.client, verb: 'update', resource: 'configmaps' },
    action: { kind: 'delay', delay: seconds(2), when: 'after' },
    count: 1,
  });
  await world.setImage(images.new);
  await world.clock.advance(seconds(1));
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  for (const zone of world.zones) await world.patchSet(zone, { metadata: { labels: { 'rollout-group': null } } });
  await world.clock.advance(minutes(3));
  const left = givenAway(world);
  const gone = deletedPods(world);
  await two.stop();
  await world.close();
  assert.deepEqual(gone, []);
  assert.deepEqual(left, []);
});

test('LIVE-2: while two budgets overlap, the reason is told, and the server is not asked in a loop', async () => {
  const { world, operator, two } = await stage();
  await makeBudget(world, {}, 'other');
  await world.setImage(images.new);
  const from = world.clock.now();
  await world.clock.advance(minutes(10));
  const reason = await blockedBy(world, operator);
  const said = eventsAbout(world, 'ingester-zone-a').map(({ message }) => message);
  const counts = (['get configmaps', 'update configmaps', 'list pods', 'list statefulsets', 'patch events', 'create events'] as const).map((each) => {
    const [verb = '', resource = ''] = each.split(' ');
    return [each, callsWithin(world, [verb, resource === 'statefulsets' ? 'statefulsets.apps' : resource], [from, minutes(10)])] as const;
  });
  assert.deepEqual(deletedPods(world), []);
  await dropBudget(world, 'other');
  await world.untilRolled(images.new);
  await two.stop();
  await world.close();
  assert.equal(reason, 'BudgetUnclear');
  assert.ok(said.some((text) => /ingester/.test(text) && /other/.test(text)), said.join('\n'));
  for (const [each, count] of counts) assert.ok(count <= 60, `${each}: ${count}`);
});
void millis;
