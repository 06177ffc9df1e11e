/** Fails: what a killed leader had given away stays in the ledger for ever when its pods were whole before another leads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { images } from '#testing/world-group.ts';
import { givenAway } from '../integration/budget-stage.ts';
import { nine, underBudget } from '../integration/budgeted-stage.ts';

test('a successor that has nothing to roll takes what has ended out of the ledger', async () => {
  const { world, operator } = await underBudget({ maxUnavailable: 1 }, { ...nine, operators: 2 });
  await world.untilReady(world.startOperator());
  await world.setImage(images.new);
  await world.clock.runUntil(() => givenAway(world)?.includes('ingester-zone-c-2') === true);
  await world.clock.advance(seconds(1));
  operator.kill();
  await world.untilRolled(images.new);
  await world.clock.advance(minutes(10));
  assert.deepEqual(givenAway(world), []);
  await world.close();
});
