/** Scale-downs under a budget, end to end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, minutes, seconds } from '#base/units.ts';
import { forceAnnotation } from '#testing/scaling.ts';
import type { World } from '#testing/world.ts';
import { budgetedWorld, givenAway, makeBudget } from '../integration/budget-stage.ts';
import { annotateSet, follow, replicasOf } from '../integration/scaling-stage.ts';
import { eventsAbout } from '../integration/hostile-stage.ts';
import { blockedBy } from '../integration/rollout-stage.ts';
import { type Replica, replica } from './second-replica.ts';
import type { OperatorRun } from '#testing/world-operator.ts';

interface Stage { readonly world: World; readonly operator: OperatorRun; readonly two: Replica }

/** Zones a, b and c of five; b is forced to five, and follows a, of three, once that ends. */
async function stage(hasBudget = true): Promise<Stage> {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
  const operator = await world.readyOperator();
  await annotateSet(world, 'b', follow('a'));
  await annotateSet(world, 'c', follow('b'));
  await annotateSet(world, 'b', forceAnnotation(5));
  await annotateSet(world, 'c', forceAnnotation(3));
  await world.clock.advance(minutes(3));
  if (hasBudget) await makeBudget(world);
  await world.clock.advance(seconds(11));
  const two = await replica(world, 'replica-2');
  await world.clock.advance(seconds(15));
  assert.deepEqual(replicasOf(world), [3, 5, 3]);
  return { world, operator, two };
}


test('a scale-down is written down before its PATCH, and leaves the ledger', async () => {
  const { world, two } = await stage();
  let atPatch: readonly string[] | undefined;
  world.cluster.faults.beforeWrite({ client: 'operator-1', resource: 'statefulsets' }, 1, () => {
    atPatch = givenAway(world);
  });
  await annotateSet(world, 'b', forceAnnotation(undefined));
  await world.clock.advance(seconds(1));
  assert.deepEqual(atPatch, ['ingester-zone-b-3', 'ingester-zone-b-4']);
  await world.clock.advance(minutes(5));
  assert.deepEqual(replicasOf(world), [3, 3, 3]);
  assert.deepEqual(givenAway(world), []);
  await two.stop();
  await world.close();
});

test('BUDG-1: a budget that is made while the PATCH of a scale-down is under way has its pods in the ledger', async () => {
  const { world, operator, two } = await stage(false);
  world.cluster.faults.add({
    match: { client: operator.client, verb: ['patch', 'update'], resource: 'statefulsets' },
    action: { kind: 'delay', delay: seconds(20) },
    count: 1,
  });
  await annotateSet(world, 'b', forceAnnotation(undefined));
  await world.clock.advance(seconds(1));
  const hits = world.cluster.faults.hits.length;
  await makeBudget(world);
  await world.clock.advance(seconds(1));
  const [left, other] = [givenAway(world), await world.run(two.evict('ingester-zone-a-0'))];
  if (other === 'allowed') await world.deletePod('ingester-zone-a-0');
  await world.clock.advance(millis(18_500));
  const replicas = replicasOf(world);
  const down = ['ingester-zone-a-0', 'ingester-zone-b-3', 'ingester-zone-b-4'].filter((name) => {
    const pod = world.stored('pods', name) as { status?: { conditions?: { type: string; status: string }[] } } | undefined;
    return pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') !== true;
  });
  void down;
  await two.stop();
  await world.close();
  assert.equal(hits, 1);
  assert.deepEqual(replicas, [3, 3, 3]);
  assert.match(other, /^denied/);
  assert.deepEqual(left, ['ingester-zone-b-3', 'ingester-zone-b-4']);
});

test('LIVE-2: a scale-down that a budget refuses says why, with the pod and the budget, and goes on', async () => {
  const { world, operator, two } = await stage();
  assert.equal(await world.run(two.evict('ingester-zone-a-1')), 'allowed');
  await annotateSet(world, 'b', forceAnnotation(undefined));
  await world.clock.advance(seconds(30));
  const replicas = replicasOf(world);
  const said = eventsAbout(world, 'ingester-zone-b').map(({ reason, message }) => `${reason}: ${message}`);
  const reason = await blockedBy(world, operator);
  await world.clock.advance(minutes(3));
  const after = replicasOf(world);
  await two.stop();
  await world.close();
  assert.deepEqual(replicas, [3, 5, 3]);
  assert.deepEqual(after, [3, 3, 3]);
  assert.equal(reason, "BudgetRefused");
  assert.ok(said.some((text) => /BudgetRefused/.test(text) && /ingester-zone-a-1/.test(text) && /ZoneAwarePodDisruptionBudget ingester/.test(text) && /until/.test(text)), said.join('\n'));
});

for (const [what, action] of Object.entries({
  'is refused for ever': { kind: 'error', code: 403 },
  'gets 500 for ever': { kind: 'error', code: 500 },
  'meets another writer each time': { kind: 'conflict' },
  'is never answered': { kind: 'delay', delay: seconds(100_000) },
} as const)) {
  test(`while the PATCH of a scale-down ${what}, it is not asked in a loop, and the ledger is not rewritten`, async () => {
    const { world, operator, two } = await stage();
    world.cluster.faults.add({ match: { client: operator.client, verb: ['patch', 'update'], resource: 'statefulsets' }, action });
    const from = world.clock.now();
    await annotateSet(world, 'b', forceAnnotation(undefined));
    await world.clock.advance(minutes(10));
    const calls = new Map<string, number>();
    for (const { client, verb, resource, subresource, startedAt } of world.cluster.eventLog.calls) {
      if (client !== operator.client || startedAt < from || verb === 'watch' || resource.startsWith('leases')) continue;
      const key = `${verb} ${resource}/${subresource}`;
      calls.set(key, (calls.get(key) ?? 0) + 1);
    }
    const left = givenAway(world);
    const other = await world.run(two.evict('ingester-zone-a-0'));
    await two.stop();
    await world.close();
    for (const [key, count] of calls) assert.ok(count <= 120, `${key}: ${count} in 10 minutes`);
    assert.ok((calls.get('update configmaps/') ?? 0) <= 4, `${calls.get('update configmaps/')} writes of the ledger`);
  });
}

test('a scale-down whose set is raised again in between ends in the ledger, and lets others go', async () => {
  const { world, two } = await stage();
  world.cluster.faults.add({
    match: { client: 'operator-1', verb: ['patch', 'update'], resource: 'statefulsets' },
    action: { kind: 'delay', delay: seconds(3) },
    count: 1,
  });
  await annotateSet(world, 'b', forceAnnotation(undefined));
  await world.clock.advance(seconds(1));
  await annotateSet(world, 'b', forceAnnotation(5));
  await world.clock.advance(minutes(4));
  const [replicas, left] = [replicasOf(world), givenAway(world)];
  const other = await world.run(two.evict('ingester-zone-a-0'));
  await two.stop();
  await world.close();
  assert.deepEqual(replicas, [3, 5, 3]);
  assert.deepEqual(left, []);
  assert.equal(other, 'allowed');
});

test('a scale-down that a killed leader had written down, and whose PATCH arrives 100 s late, keeps other zones', async () => {
  const { world, operator, two } = await stage();
  world.cluster.faults.add({
    match: { client: operator.client, verb: ['patch', 'update'], resource: 'statefulsets' },
    action: { kind: 'delay', delay: seconds(3) },
    count: 1,
  });
  await annotateSet(world, 'b', forceAnnotation(undefined));
  await world.clock.advance(seconds(1));
  operator.kill({ late: seconds(100) });
  world.startOperator();
  const answers: string[] = [];
  for (let at = 0; at < 9; at += 1) {
    await world.clock.advance(seconds(10));
    answers.push(await world.run(two.evict('ingester-zone-a-0')));
  }
  await world.clock.advance(minutes(6));
  const left = givenAway(world);
  const replicas = replicasOf(world);
  await two.stop();
  await world.close();
  assert.ok(answers.every((each) => each.startsWith('denied')), answers.join('\n'));
  assert.deepEqual(replicas, [3, 3, 3]);
  assert.deepEqual(left, []);
});
