/** Evictions answered by replicas that do not lead. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, minutes, seconds } from '#base/units.ts';
import { budgetedWorld, damageLedger, givenAway, makeBudget } from '../integration/budget-stage.ts';
import { replica } from './second-replica.ts';

const group = { replicas: 3, maxUnavailable: '1' } as const;


for (const skew of [minutes(60), minutes(-60), minutes(3)]) {
  test(`a replica whose clock is ${skew / 60_000} min ahead gives no second zone away`, async () => {
    const world = await budgetedWorld(group);
    await world.readyOperator();
    await world.clock.advance(minutes(3));
    await makeBudget(world);
    await world.clock.advance(seconds(11));
    const one = await replica(world, 'replica-1');
    const two = await replica(world, 'replica-2', skew);
    await world.clock.advance(seconds(15));
    assert.equal(await world.run(one.evict('ingester-zone-a-0')), 'allowed');
    await world.clock.advance(seconds(1));
    const other = await world.run(two.evict('ingester-zone-b-0'));
    await one.stop();
    await two.stop();
    await world.close();
    assert.match(other, /^denied: ingester-zone-a-0 reserved/);
  });
}

test('D-34: a replica that once saw no ledger does not take one that is deleted an hour later for empty', async () => {
  const world = await budgetedWorld(group);
  await world.readyOperator();
  await world.clock.advance(minutes(3));
  const one = await replica(world, 'replica-1');
  const two = await replica(world, 'replica-2');
  world.cluster.faults.add({
    match: { client: 'operator-1', verb: 'create', resource: 'configmaps' },
    action: { kind: 'delay', delay: seconds(2) },
    count: 1,
  });
  await makeBudget(world);
  await world.clock.advance(seconds(0.5));
  const early = await world.run(two.evict('ingester-zone-c-0'));
  assert.match(early, /^unclear: there is no ConfigMap/);
  await world.clock.advance(minutes(60));
  assert.deepEqual(givenAway(world), []);
  assert.equal(await world.run(one.evict('ingester-zone-a-0')), 'allowed');
  await damageLedger(world, 'deleted');
  const other = await world.run(two.evict('ingester-zone-b-0'));
  await one.stop();
  await two.stop();
  await world.close();
  assert.match(other, /^unclear/);
});
