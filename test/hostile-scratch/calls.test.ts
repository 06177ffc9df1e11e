import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { budgetedWorld, givenAway, makeBudget } from '../integration/budget-stage.ts';
import { EvictionReplica, said } from './eviction-replica.ts';

function counts(calls: readonly string[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const call of calls) {
    const key = call.split(' ').slice(0, 2).join(' ');
    found[key] = (found[key] ?? 0) + 1;
  }
  return found;
}

const total = (found: Record<string, number>, verbs: readonly string[]): number =>
  Object.entries(found)
    .filter(([key]) => verbs.includes(key.split(' ')[0] ?? ''))
    .reduce((sum, [, count]) => sum + count, 0);

test('[LOAD-5] a permission in three zones costs two reads and two writes, its end included', async () => {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
  const one = await EvictionReplica.start(world, 'one');
  one.lead();
  await makeBudget(world);
  await world.clock.advance(seconds(60));
  const from = world.clock.now();
  assert.equal(said(await one.evict('a-0')), 'allowed');
  const asked = counts(one.calls(from));
  await world.clock.advance(seconds(130));
  const all = counts(one.calls(from));
  console.log('a permission', asked, 'with its end', all, givenAway(world));
  assert.ok(total(asked, ['get', 'list']) <= 2, JSON.stringify(asked));
  assert.ok(total(all, ['update', 'create', 'patch']) <= 2);
  await one.stop();
  await world.close();
});

test('two replicas that both saw a permission tidy it once, with few writes', async () => {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
  const one = await EvictionReplica.start(world, 'one');
  one.lead();
  const two = await EvictionReplica.start(world, 'two');
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  const from = world.clock.now();
  assert.equal(said(await one.evict('a-0')), 'allowed');
  await two.evict('b-0');
  await world.clock.advance(seconds(300));
  console.log('one', counts(one.calls(from)), 'two', counts(two.calls(from)), givenAway(world));
  assert.deepEqual(givenAway(world), []);
  assert.ok(total(counts([...one.calls(from), ...two.calls(from)]), ['update']) <= 3);
  await one.stop();
  await two.stop();
  await world.close();
});

test('an evictor that asks once each 11 s, and is denied, costs no request', async () => {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
  const one = await EvictionReplica.start(world, 'one');
  one.lead();
  await makeBudget(world, { maxUnavailable: 0 });
  await world.clock.advance(seconds(60));
  const from = world.clock.now();
  for (let n = 0; n < 20; n += 1) {
    await one.evict('a-0');
    await world.clock.advance(seconds(11));
  }
  const found = counts(one.calls(from));
  console.log('denied 20 times', found);
  assert.equal(total(found, ['get', 'list']), 0);
  await one.stop();
  await world.close();
});

test('an eviction of a terminating pod that is asked for 1,000 times is read a few times', async () => {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1', kubelet: {} });
  const one = await EvictionReplica.start(world, 'one');
  one.lead();
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  await world.freezeEnvironment();
  await world.deletePod('ingester-zone-a-0');
  await world.clock.advance(seconds(1));
  const from = world.clock.now();
  const all = await world.run(Promise.all(Array.from({ length: 1_000 }, () => one.ask('a-0'))));
  console.log('terminating', counts(one.calls(from)), [...new Set(all.map(({ decision }) => said(decision).slice(0, 80)))]);
  await one.stop();
  await world.close();
});

test('a set that was just made, which the cache does not show: 429', async () => {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
  const two = await EvictionReplica.start(world, 'two');
  two.lead();
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  for (const each of world.cluster.faults.watches({ client: 'two' })) {
    if (each.options.resource?.startsWith('statefulsets')) each.pause();
  }
  const zone = 'd';
  const { setOf } = await import('#testing/world-group.ts');
  const { resourceTypes } = await import('#kubernetes/resource-type.ts');
  const body = setOf({ zone }, { replicas: 2 });
  const at = { namespace: 'demo', name: `ingester-zone-${zone}` };
  await world.run(world.admin.create(resourceTypes.statefulSets, at, { body }));
  await world.clock.advance(seconds(20));
  const answer = said(await two.evict('d-0'));
  console.log('new set', answer);
  assert.match(answer, /^429/);
  // Pods of the others: the view is proven, and has the new set.
  console.log('others', said(await two.evict('a-0')));
  await two.stop();
  await world.close();
});
