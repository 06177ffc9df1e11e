/** What a hostile review of disruption budgets tried: a ledger that is deleted after a replica has seen that there is none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { budgetedWorld, damageLedger, givenAway, makeBudget } from '../stages/budget-stage.ts';
import {
  EvictionReplica,
  endAll,
  type ReplicaStage,
  replicasWithoutBudget,
  threeByThree,
} from '../stages/eviction-replica.ts';

/** A ledger that the leader makes 2 s late, so that `two` has seen that there is none. */
async function ledgerMadeLate(): Promise<ReplicaStage> {
  const stage = await replicasWithoutBudget();
  const { world, two } = stage;
  world.cluster.faults.add({
    match: { client: 'one', verb: 'create', resource: 'configmaps' },
    action: { kind: 'delay', delay: seconds(2) },
    count: 1,
  });
  await makeBudget(world);
  await world.clock.advance(seconds(0.5));
  assert.match(await two.evict('c-0'), /^429 .*there is no ConfigMap/);
  return stage;
}

test('a ledger that was missing once, then stood, and is deleted, is waited for anew (D-34)', async () => {
  const world = await budgetedWorld(threeByThree);
  const one = await EvictionReplica.start(world, 'one');
  const two = await EvictionReplica.start(world, 'two');
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  // Nobody leads: nobody makes a ledger until 120 s have passed.
  assert.match(await two.evict('b-0'), /^429 /);
  assert.match(await one.evict('a-0'), /^429 /);
  assert.equal(givenAway(world), undefined);
  await world.clock.advance(seconds(120.5));
  assert.equal(await one.evict('a-0'), 'allowed');
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  await damageLedger(world, 'deleted');
  assert.match(await two.evict('b-0'), /^429 /);
  assert.equal(givenAway(world), undefined);
  await endAll(world, one, two);
});

test('a ledger that the leader made at once, and that a replica had missed, is waited for again once it is deleted (D-34)', async () => {
  const { world, one, two } = await ledgerMadeLate();
  await world.clock.advance(seconds(118));
  assert.equal(await one.evict('a-0'), 'allowed');
  await damageLedger(world, 'deleted');
  await world.clock.advance(seconds(2));
  assert.match(await two.evict('b-0'), /^429 /);
  assert.equal(givenAway(world), undefined);
  await endAll(world, one, two);
});

test('a replica that once saw no ledger does not take one that is deleted an hour later for empty (D-34)', async () => {
  const { world, one, two } = await ledgerMadeLate();
  await world.clock.advance(minutes(60));
  assert.deepEqual(givenAway(world), []);
  assert.equal(await one.evict('a-0'), 'allowed');
  await damageLedger(world, 'deleted');
  assert.match(await two.evict('b-0'), /^429 /);
  await endAll(world, one, two);
});
