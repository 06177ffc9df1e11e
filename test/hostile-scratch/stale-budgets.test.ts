import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { World } from '#testing/world.ts';
import { NAMESPACE, GROUP } from '#testing/world-group.ts';
import { zoneAwarePodDisruptionBudgetDefinition } from '#disruption-budget/api.ts';
import { budgetedWorld, dropBudget, makeBudget } from '../integration/budget-stage.ts';
import { EvictionReplica, said } from './eviction-replica.ts';

const budgets = resourceTypes.zoneAwarePodDisruptionBudgets;

async function stage(replicas = 3) {
  const world = await budgetedWorld({ replicas, maxUnavailable: '1' });
  const one = await EvictionReplica.start(world, 'one');
  one.lead();
  const two = await EvictionReplica.start(world, 'two');
  return { world, one, two };
}

async function end(world: World, ...replicas: EvictionReplica[]): Promise<void> {
  for (const each of replicas) await each.stop();
  await world.close();
}

async function patchBudget(world: World, spec: object, name = GROUP): Promise<void> {
  const body = { kind: 'merge', document: { spec } } as const;
  await world.run(world.admin.patch(budgets, { namespace: NAMESPACE, name }, { body } as never));
}

async function patchPod(world: World, pod: string, document: object): Promise<void> {
  const body = { kind: 'strategic', document } as const;
  await world.run(
    world.admin.patch(resourceTypes.pods, { namespace: NAMESPACE, name: pod }, { body } as never),
  );
}

for (const wait of [seconds(15), seconds(60)] as Millis[]) {
  test(`[D-51] a budget made ${wait / 1000} s ago, which the watch of a follower does not tell, binds evictions there`, async () => {
    const { world, one, two } = await stage();
    for (const each of world.cluster.faults.watches({ client: 'two' })) {
      if (each.options.resource?.startsWith('zoneaware')) each.pause();
    }
    await makeBudget(world);
    await world.clock.advance(wait);
    const answers = [said(await two.evict('a-0')), said(await two.evict('b-0'))];
    console.log(wait, answers);
    assert.notDeepEqual(answers, ['allowed', 'allowed']);
    await end(world, one, two);
  });
}

for (const wait of [seconds(15), seconds(60)] as Millis[]) {
  test(`[D-51] a budget lowered to 0 ${wait / 1000} s ago, which the watch of a follower does not tell`, async () => {
    const { world, one, two } = await stage();
    await makeBudget(world);
    await world.clock.advance(seconds(11));
    for (const each of world.cluster.faults.watches({ client: 'two' })) {
      if (each.options.resource?.startsWith('zoneaware')) each.pause();
    }
    await patchBudget(world, { maxUnavailable: 0 });
    await world.clock.advance(wait);
    const answer = said(await two.evict('a-0'));
    console.log(wait, answer);
    assert.match(answer, /^4/);
    await end(world, one, two);
  });
}

test('[D-49] a budget lowered to 0 while the view is proven, as the cache shows, lets nothing go', async () => {
  const { world, one, two } = await stage();
  await makeBudget(world);
  await world.clock.advance(seconds(30));
  world.cluster.faults.add({
    match: { client: 'two', verb: 'list', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(2) },
    count: 9,
  });
  const asked = two.ask('a-0');
  await world.clock.advance(seconds(0.5));
  await patchBudget(world, { maxUnavailable: 0 });
  await world.clock.advance(seconds(0.5));
  const answer = said((await world.run(asked)).decision);
  console.log('lowered:', answer, (await asked).took);
  assert.match(answer, /^4/);
  await end(world, one, two);
});

test('[D-49] a budget lowered to 0 while the ledger is read lets nothing go', async () => {
  const { world, one, two } = await stage();
  await makeBudget(world);
  await world.clock.advance(seconds(30));
  world.cluster.faults.add({
    match: { client: 'two', verb: 'get', resource: 'configmaps' },
    action: { kind: 'delay', delay: seconds(2) },
    count: 9,
  });
  const asked = two.ask('a-0');
  await world.clock.advance(seconds(0.5));
  await patchBudget(world, { maxUnavailable: 0 });
  const answer = said((await world.run(asked)).decision);
  console.log('lowered (ledger):', answer);
  assert.match(answer, /^4/);
  await end(world, one, two);
});

test('[D-36] a second budget over the pod that appears while the view is proven lets nothing go', async () => {
  const { world, one, two } = await stage();
  await makeBudget(world);
  await world.clock.advance(seconds(30));
  world.cluster.faults.add({
    match: { client: 'two', verb: 'list', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(2) },
    count: 9,
  });
  const asked = two.ask('a-0');
  await world.clock.advance(seconds(0.5));
  await makeBudget(world, { maxUnavailable: 0 }, 'second');
  const answer = said((await world.run(asked)).decision);
  console.log('second:', answer);
  assert.match(answer, /^4/);
  await end(world, one, two);
});

test('a budget that appears while the pod is read (cache does not have the pod) counts', async () => {
  const { world, one, two } = await stage();
  await makeBudget(world, { maxUnavailable: 1, selector: { matchLabels: { app: 'other' } } }, 'other');
  await world.clock.advance(seconds(11));
  // The label of the pod changes, and the follower's watch of pods does not tell.
  for (const each of world.cluster.faults.watches({ client: 'two', resource: 'pods' })) each.pause();
  await patchPod(world, 'ingester-zone-a-0', { metadata: { labels: { app: 'other' } } });
  await patchPod(world, 'ingester-zone-b-0', { metadata: { labels: { app: 'other' } } });
  await world.clock.advance(seconds(60));
  const answers = [said(await two.evict('a-0')), said(await two.evict('b-0'))];
  console.log('label changed:', answers);
  assert.ok(!answers.includes('allowed'));
  await end(world, one, two);
});

test('[D-51] the type of budgets is installed, a budget is made: evictions obey it within 10 s', async () => {
  const world = await World.create({ replicas: 3, maxUnavailable: '1' });
  for (const zone of world.zones) {
    await world.patchSet(zone, { metadata: { labels: { app: GROUP } } });
  }
  const two = await EvictionReplica.start(world, 'two');
  await world.clock.advance(seconds(32));
  const body = zoneAwarePodDisruptionBudgetDefinition;
  await world.run(world.admin.create(resourceTypes.customResourceDefinitions, {}, { body }));
  await world.clock.advance(seconds(1));
  await makeBudget(world);
  const from = world.clock.now();
  let last = -1;
  for (let at = 0; at < 60; at += 1) {
    await world.clock.advance(seconds(1));
    if (said(await two.evict('a-0', { isDryRun: true })) === 'allowed') last = at + 1;
  }
  console.log('type noticed: last allowed without budget after', last, 's', from);
  assert.ok(last <= 10, `allowed until ${last} s after the budget was made`);
  await end(world, two);
});

test('the type of budgets vanishes and comes back: nothing throws, evictions obey again', async () => {
  const { world, one, two } = await stage();
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  assert.equal(said(await two.evict('a-0')), 'allowed');
  await dropBudget(world);
  await world.clock.advance(seconds(1));
  assert.equal(said(await two.evict('b-0')), 'allowed');
  await end(world, one, two);
});

test('budgets cannot be listed (403): a follower that never could list them says so with 429', async () => {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
  world.cluster.faults.add({
    match: { client: 'two', resource: 'zoneawarepoddisruptionbudgets' },
    action: { kind: 'error', code: 403 },
  });
  await makeBudget(world);
  const two = await EvictionReplica.start(world, 'two');
  await world.clock.advance(minutes(1));
  const answers = [said(await two.evict('a-0')), said(await two.evict('b-0'))];
  console.log('403 list:', answers);
  for (const answer of answers) assert.match(answer, /^429/);
  await end(world, two);
});
