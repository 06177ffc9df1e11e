/** How long a rollout takes under a budget, and what is asked of the API server under each permanent fault. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, millis, minutes, seconds } from '#base/units.ts';
import { images } from '#testing/world-group.ts';
import { World } from '#testing/world.ts';
import { budgetedWorld, givenAway, makeBudget } from '../integration/budget-stage.ts';
import { blockedBy, deletedPods } from '../integration/rollout-stage.ts';
import { eventsAbout } from '../integration/hostile-stage.ts';
import { replica } from './second-replica.ts';

const large = { replicas: 200, maxUnavailable: '20' } as const;

async function rolled(budget: boolean, delay: Millis): Promise<{ took: number; writes: number }> {
  const world = budget ? await budgetedWorld(large) : await World.create(large);
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(3));
  if (budget) {
    await makeBudget(world, { maxUnavailable: 20 });
    await world.clock.advance(seconds(11));
  }
  world.cluster.faults.add({ match: { client: operator.client, verb: ['update', 'create'], resource: 'configmaps' }, action: { kind: 'delay', delay, when: 'after' } });
  const from = world.clock.now();
  await world.setImage(images.new);
  await world.untilRolled(images.new, minutes(120));
  const took = world.clock.now() - from;
  const writes = world.cluster.eventLog.calls.filter(({ client, resource, verb, startedAt }) => client === operator.client && resource === 'configmaps' && verb === 'update' && startedAt >= from).length;
  await world.clock.advance(seconds(30));
  if (budget) assert.deepEqual(givenAway(world), []);
  await world.close();
  return { took, writes };
}

test('a rollout of 3 × 200 with a limit of 20 takes no more than half as long again under a budget with slow writes', async () => {
  const without = await rolled(false, millis(0));
  const fast = await rolled(true, millis(0));
  const slow = await rolled(true, millis(300));
  assert.ok(fast.took <= without.took * 1.1, `${fast.took} after ${without.took} ms`);
  assert.ok(slow.took <= without.took * 1.5, `${slow.took} after ${without.took} ms`);
});

const faults = {
  '429 on writes of ConfigMaps': [['update', 'create'], { kind: 'throttle', retryAfterSeconds: 1 }],
  '500 on writes of ConfigMaps': [['update', 'create'], { kind: 'error', code: 500 }],
  '429 on reads of ConfigMaps': [['get'], { kind: 'throttle', retryAfterSeconds: 1 }],
  '500 on reads of ConfigMaps': [['get'], { kind: 'error', code: 500 }],
  '403 on reads of ConfigMaps': [['get'], { kind: 'error', code: 403 }],
  'another writer at each write': [['update'], { kind: 'conflict' }],
  'writes whose answers are dropped': [['update'], { kind: 'drop', when: 'after' }],
  'reads that never end': [['get'], { kind: 'delay', delay: seconds(1_000_000) }],
} as const;

for (const [what, [verb, action]] of Object.entries(faults)) {
  test(`under ${what} for ever, nothing is asked in a loop, the cause is told, and it ends with the fault`, async () => {
    const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
    const operator = await world.readyOperator();
    await world.clock.advance(minutes(3));
    await makeBudget(world);
    await world.clock.advance(seconds(30));
    const undo = world.cluster.faults.add({ match: { client: operator.client, verb, resource: 'configmaps' }, action });
    await world.setImage(images.new);
    const from = world.clock.now();
    await world.clock.advance(minutes(10));
    const calls = new Map<string, number>();
    for (const { client, verb: each, resource, startedAt } of world.cluster.eventLog.calls) {
      if (client !== operator.client || startedAt < from || each === 'watch' || resource.startsWith('leases')) continue;
      const key = `${each} ${resource}`;
      calls.set(key, (calls.get(key) ?? 0) + 1);
    }
    const gone = deletedPods(world).length;
    const reason = await blockedBy(world, operator);
    const said = eventsAbout(world, 'ingester-zone-a').map((e) => `${e.reason}: ${e.message}`);
    undo();
    const undone = world.clock.now();
    await world.untilRolled(images.new, minutes(60));
    const took = world.clock.now() - undone;
    await world.clock.advance(seconds(30));
    const left = givenAway(world);
    await world.close();
    if (gone === 0) assert.notEqual(reason, undefined, said.join('\n'));
    assert.deepEqual(left, []);
    for (const [key, count] of calls) assert.ok(count <= 200, `${key}: ${count} in 10 minutes`);
    assert.ok(took < minutes(3), `${took} ms`);
  });
}

test('QUIE-1: at rest, held by a reservation of another replica, or by max 0 of an eviction, little is asked', async () => {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(3));
  await makeBudget(world);
  await world.clock.advance(seconds(30));
  const two = await replica(world, 'replica-2');
  assert.equal(await world.run(two.evict('ingester-zone-c-1')), 'allowed');
  world.kubelet.behaviours.add({ behave: 'slow', by: minutes(600), match: { name: 'ingester-zone-c-1' } });
  await world.deletePod('ingester-zone-c-1');
  await world.clock.advance(seconds(20));
  await world.setImage(images.new, ['a', 'b']);
  const from = world.clock.now();
  await world.clock.advance(minutes(10));
  const calls = new Map<string, number>();
  for (const { client, verb: each, resource, startedAt } of world.cluster.eventLog.calls) {
    if (startedAt < from || each === 'watch' || resource.startsWith('leases')) continue;
    if (client !== operator.client && client !== 'replica-2') continue;
    const key = `${client} ${each} ${resource}`;
    calls.set(key, (calls.get(key) ?? 0) + 1);
  }
  await two.stop();
  await world.close();
  for (const [key, count] of calls) assert.ok(count <= 100, `${key}: ${count} in 10 minutes`);
});
