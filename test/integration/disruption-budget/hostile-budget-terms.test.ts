/** What a hostile review of disruption budgets tried: what a process does for a ledger before, and after, it leads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, monotonic, seconds } from '#base/units.ts';
import { NAMESPACE } from '#support/world/world-group.ts';
import { budgetedWorld, givenAway, makeBudget } from '../stages/budget-stage.ts';
import {
  EvictionReplica,
  endAll,
  replicasUnderBudget,
  threeByThree,
} from '../stages/eviction-replica.ts';

test('who does not lead any more begins no ledger', async () => {
  const world = await budgetedWorld(threeByThree);
  const one = await EvictionReplica.start(world, 'one');
  one.lead();
  one.budgets.authority.resign();
  await makeBudget(world);
  await world.clock.advance(seconds(5));
  assert.match(await one.evict('a-0'), /^429 /);
  assert.equal(givenAway(world), undefined);
  await endAll(world, one);
});

test('a leader does not void the intents of an earlier term before that is waited out', async () => {
  const { world, one, two } = await replicasUnderBudget();
  const { authority } = one.budgets;
  const pod = authority.evictions.pod(NAMESPACE, 'ingester-zone-a-0');
  assert.ok(pod);
  authority.of('rollout-groups').wants('demo/ingester', new Set([pod.uid]));
  const wanted = [{ pod, by: 'rollout', maxUnavailable: 1 }] as const;
  await world.run(authority.ask(wanted, new AbortController().signal));
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  authority.resign();
  const predecessorsOverAt = monotonic(two.clock.monotonic() + minutes(2));
  two.budgets.authority.lead({
    term: 'the next',
    predecessorsOverAt,
    mayBeginAt: predecessorsOverAt,
  });
  await world.clock.advance(seconds(30));
  assert.match(await two.evict('b-0'), /^429 /);
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  await endAll(world, one, two);
});
