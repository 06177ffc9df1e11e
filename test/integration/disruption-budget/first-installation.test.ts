/** Budgets that are older than the operator, at its very first start. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, monotonic, seconds } from '#base/units.ts';
import type { World } from '#support/world/world.ts';
import { budgetedWorld, damageLedger, makeBudget } from '../stages/budget-stage.ts';
import { EvictionReplica, endAll, threeByThree } from '../stages/eviction-replica.ts';

/** A budget that is minutes old, and no operator yet. */
async function olderBudget(): Promise<World> {
  const world = await budgetedWorld(threeByThree);
  await makeBudget(world);
  await world.clock.advance(minutes(3));
  return world;
}

/** Has `replica` lead as the first process of its installation, for 30 s. */
function leadFirst(world: World, replica: EvictionReplica): void {
  const now = world.clock.monotonic();
  replica.budgets.authority.lead({
    term: 'first',
    predecessorsOverAt: now,
    mayBeginAt: now,
    firstUntil: monotonic(now + seconds(30)),
  });
}

test('[found R-20] the first process of an installation lets a pod go at once under a budget that is older, and no other zone', async () => {
  const world = await olderBudget();
  const first = await EvictionReplica.start(world, 'first');
  leadFirst(world, first);
  assert.equal(await first.evict('a-0'), 'allowed');
  assert.match(await first.evict('b-0'), /^429 .*ingester-zone-a/);
  await endAll(world, first);
});

test('[found R-20] its ledger is deleted: it waits as ever, as what was given away is unknown', async () => {
  const world = await olderBudget();
  const first = await EvictionReplica.start(world, 'first');
  leadFirst(world, first);
  assert.equal(await first.evict('a-0'), 'allowed');
  await damageLedger(world, 'deleted');
  await world.clock.advance(seconds(11));
  assert.match(await first.evict('b-0'), /^429 .*there is no ConfigMap/);
  await endAll(world, first);
});

test('[found R-20] a process that leads after another one, or that only follows, finds no ledger and waits', async () => {
  const world = await olderBudget();
  const follower = await EvictionReplica.start(world, 'follower');
  assert.match(await follower.evict('a-0'), /^429 .*there is no ConfigMap/);
  follower.lead();
  assert.match(await follower.evict('a-0'), /^429 .*there is no ConfigMap/);
  await endAll(world, follower);
});

test('[found R-20] half a minute later nothing is begun at once: another replica may have begun it meanwhile, and lost it', async () => {
  const world = await olderBudget();
  const first = await EvictionReplica.start(world, 'first');
  const unreadable = world.cluster.faults.add({
    match: { client: 'first', resource: 'configmaps' },
    action: { kind: 'error', code: 500 },
  });
  leadFirst(world, first);
  await world.clock.advance(seconds(31));
  unreadable();
  assert.match(await first.evict('a-0'), /^429 .*there is no ConfigMap/);
  await endAll(world, first);
});
