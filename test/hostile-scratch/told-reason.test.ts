/** What people are told of a rollout that a budget holds: is it true, and does it name pod, budget and time? */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, minutes, seconds } from '#base/units.ts';
import { images } from '#testing/world-group.ts';
import { budgetedWorld, makeBudget } from '../integration/budget-stage.ts';
import { blockedBy } from '../integration/rollout-stage.ts';
import { eventsAbout } from '../integration/hostile-stage.ts';
import { replica } from './second-replica.ts';

for (const wait of [15, 60, 600]) for (const delay of [0, 50])
test(`a rollout that a reservation of another replica holds says whose, of which budget and until when (${wait} s after the budget, ${delay} ms)`, async () => {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(3));
  await makeBudget(world);
  if (delay > 0)
  world.cluster.faults.add({
    match: { resource: 'configmaps' },
    action: { kind: 'delay', delay: millis(delay), when: 'after' },
  });
  await world.clock.advance(seconds(wait));
  const two = await replica(world, 'replica-2');
  await world.clock.advance(seconds(15));
  assert.equal(await world.run(two.evict('ingester-zone-c-1')), 'allowed');
  await world.setImage(images.new);
  await world.clock.advance(seconds(30));
  const reason = await blockedBy(world, operator);
  const said = eventsAbout(world, 'ingester-zone-a').map(({ reason: why, message }) => `${why}: ${message}`);
  await world.untilRolled(images.new, minutes(20));
  await two.stop();
  await world.close();
  assert.equal(reason, 'BudgetRefused', said.join('\n'));
  assert.ok(said.some((text) => /ZoneAwarePodDisruptionBudget ingester.*ingester-zone-c-1.*until/.test(text)), said.join('\n'));
});
