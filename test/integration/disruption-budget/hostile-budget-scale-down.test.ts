/** What a hostile review of disruption budgets tried: scale-downs under a budget, end to end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, minutes, seconds } from '#base/units.ts';
import { forceAnnotation } from '#support/objects/scaling.ts';
import { dropBudget, givenAway, makeBudget } from '../stages/budget-stage.ts';
import { endAll, type LedStage, ledUnderBudget } from '../stages/eviction-replica.ts';
import { eventsAbout } from '../stages/hostile-stage.ts';
import { blockedBy } from '../stages/rollout-stage.ts';
import { annotateSet, follow, replicasOf } from '../stages/scaling-stage.ts';

/** Zones of 3, 5 and 3: b is forced to five, and follows a once that ends. */
async function unequal(): Promise<LedStage> {
  const stage = await ledUnderBudget();
  const { world } = stage;
  await annotateSet(world, 'b', follow('a'));
  await annotateSet(world, 'c', follow('b'));
  await annotateSet(world, 'b', forceAnnotation(5));
  await annotateSet(world, 'c', forceAnnotation(3));
  await world.clock.advance(minutes(3));
  assert.deepEqual(replicasOf(world), [3, 5, 3]);
  return stage;
}

/** What scales down. */
const writes = { verb: ['patch', 'update'], resource: 'statefulsets' } as const;

/** Scales b down by a request that takes `delay` to arrive, and is on its way by the end. */
async function scaleDownLate({ world, operator }: LedStage, delay: Millis): Promise<void> {
  world.cluster.faults.add({
    match: { client: operator.client, ...writes },
    action: { kind: 'delay', delay },
    count: 1,
  });
  await annotateSet(world, 'b', forceAnnotation(undefined));
  await world.clock.advance(seconds(1));
}

const surplus = ['ingester-zone-b-3', 'ingester-zone-b-4'];

test('a scale-down is written down before it is sent, and leaves the ledger', async () => {
  const { world, operator, two } = await unequal();
  let atPatch: readonly string[] | undefined;
  const { client } = operator;
  world.cluster.faults.beforeWrite({ client, resource: 'statefulsets' }, 1, () => {
    atPatch = givenAway(world);
  });
  await annotateSet(world, 'b', forceAnnotation(undefined));
  await world.clock.advance(seconds(1));
  assert.deepEqual(atPatch, surplus);
  await world.clock.advance(minutes(5));
  assert.deepEqual(replicasOf(world), [3, 3, 3]);
  assert.deepEqual(givenAway(world), []);
  await endAll(world, two);
});

test('a budget that is made while a scale-down is under way has its pods in the ledger (BUDG-1)', async () => {
  const stage = await unequal();
  const { world, two } = stage;
  await dropBudget(world);
  await world.clock.advance(seconds(11));
  await scaleDownLate(stage, seconds(20));
  assert.equal(world.cluster.faults.hits.length, 1);
  await makeBudget(world);
  await world.clock.advance(seconds(1));
  assert.deepEqual(givenAway(world), surplus);
  assert.match(await two.evict('a-0'), /^429 /);
  await world.clock.advance(seconds(18.5));
  assert.deepEqual(replicasOf(world), [3, 3, 3]);
  await endAll(world, two);
});

test('a scale-down that a budget refuses names pod, budget and time, and goes on (LIVE-2)', async () => {
  const { world, operator, two } = await unequal();
  assert.equal(await two.evict('a-1'), 'allowed');
  await annotateSet(world, 'b', forceAnnotation(undefined));
  await world.clock.advance(seconds(30));
  assert.deepEqual(replicasOf(world), [3, 5, 3]);
  assert.equal(await blockedBy(world, operator), 'BudgetRefused');
  const said = eventsAbout(world, 'ingester-zone-b').findLast(
    ({ reason }) => reason === 'BudgetRefused',
  );
  assert.match(said?.message ?? '', /ingester-zone-a-1/);
  assert.match(said?.message ?? '', /ZoneAwarePodDisruptionBudget ingester/);
  assert.match(said?.message ?? '', /until/);
  await world.clock.advance(minutes(3));
  assert.deepEqual(replicasOf(world), [3, 3, 3]);
  await endAll(world, two);
});

for (const [what, action] of Object.entries({
  'is refused for ever': { kind: 'error', code: 403 },
  'gets 500 for ever': { kind: 'error', code: 500 },
  'meets another writer each time': { kind: 'conflict' },
  'is never answered': { kind: 'delay', delay: seconds(100_000) },
} as const)) {
  test(`a scale-down that ${what} is not sent in a loop, and does not have the ledger written again and again`, async () => {
    const { world, operator, two } = await unequal();
    const { client } = operator;
    world.cluster.faults.add({ match: { client, ...writes }, action });
    const from = world.clock.now();
    await annotateSet(world, 'b', forceAnnotation(undefined));
    await world.clock.advance(minutes(10));
    const calls = world.cluster.eventLog.calls
      .filter((call) => call.client === client && call.startedAt >= from)
      .filter(({ verb, resource }) => verb !== 'watch' && !resource.startsWith('leases'))
      .map(({ verb, resource, subresource }) => `${verb} ${resource}/${subresource}`);
    for (const each of new Set(calls)) {
      assert.ok(calls.filter((call) => call === each).length <= 120, each);
    }
    assert.ok(calls.filter((call) => call === 'update configmaps/').length <= 4);
    assert.deepEqual([replicasOf(world)[0], replicasOf(world)[2]], [3, 3]);
    await endAll(world, two);
  });
}

test('a scale-down whose set is raised again in between ends in the ledger, and lets others go', async () => {
  const stage = await unequal();
  const { world, two } = stage;
  await scaleDownLate(stage, seconds(3));
  await annotateSet(world, 'b', forceAnnotation(5));
  await world.clock.advance(minutes(4));
  assert.deepEqual(replicasOf(world), [3, 5, 3]);
  assert.deepEqual(givenAway(world), []);
  assert.equal(await two.evict('a-0'), 'allowed');
  await endAll(world, two);
});

test('a scale-down on its way keeps other zones though its pods are replaced before it arrives (EXCL-1)', async () => {
  const stage = await unequal();
  const { world, two } = stage;
  await scaleDownLate(stage, seconds(60));
  for (const name of surplus) await world.deletePod(name);
  for (let at = 0; at < 5; at += 1) {
    await world.clock.advance(seconds(5));
    assert.match(await two.evict('a-0'), /^429 /);
  }
  assert.deepEqual(replicasOf(world), [3, 5, 3]);
  await world.clock.advance(minutes(1));
  assert.deepEqual(replicasOf(world), [3, 3, 3]);
  assert.deepEqual(givenAway(world), []);
  assert.equal(await two.evict('a-0'), 'allowed');
  await endAll(world, two);
});

test('a scale-down that a killed leader had written down, and that arrives 100 s late, keeps other zones', async () => {
  const stage = await unequal();
  const { world, operator, two } = stage;
  await scaleDownLate(stage, seconds(3));
  operator.kill({ late: seconds(100) });
  world.startOperator();
  for (let at = 0; at < 9; at += 1) {
    await world.clock.advance(seconds(10));
    assert.match(await two.evict('a-0'), /^429 /);
  }
  await world.clock.advance(minutes(6));
  assert.deepEqual(replicasOf(world), [3, 3, 3]);
  assert.deepEqual(givenAway(world), []);
  await endAll(world, two);
});
