import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { zoneAwarePodDisruptionBudgetDefinition } from '#disruption-budget/api.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { budgetOver } from '#support/objects/budgets.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images, NAMESPACE } from '#support/world/world-group.ts';
import { assertBlockedBy, podsDeletedSince, silence } from '../stages/hostile-stage.ts';
import { deletedPods } from '../stages/rollout-stage.ts';

/** Three zones of three, one pod at a time: nine pods go in about half a minute. */
const group: WorldOptions = { replicas: 3, maxUnavailable: '1' };

async function install(world: World): Promise<void> {
  const write = { body: zoneAwarePodDisruptionBudgetDefinition };
  await world.run(world.admin.create(resourceTypes.customResourceDefinitions, {}, write));
  await world.clock.advance(seconds(0.1));
}

/** A budget that lets no pod of the group go. */
async function forbid(world: World): Promise<void> {
  const body = budgetOver('ingester', { app: 'ingester' });
  await world.run(
    world.admin.create(
      resourceTypes.zoneAwarePodDisruptionBudgets,
      { namespace: NAMESPACE },
      { body },
    ),
  );
}

test('a budget whose definition is installed in mid-rollout ends it within 10 s', async () => {
  const world = await World.create(group);
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(1));
  await world.setImage(images.new);
  await world.clock.advance(seconds(4));
  assert.ok(deletedPods(world).length < 9);
  await install(world);
  await forbid(world);
  const from = world.clock.now();
  await world.clock.advance(minutes(2));
  assert.deepEqual(podsDeletedSince(world, from + 10_000), []);
  await assertBlockedBy([world, operator], ['BudgetRefused']);
  assert.ok(deletedPods(world).length < 9);
  await world.close();
});

test('no rollout begins under a budget whose definition was installed half an hour after the start', async () => {
  const world = await World.create(group);
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(30));
  await install(world);
  await forbid(world);
  await world.clock.advance(seconds(10));
  await world.setImage(images.new);
  await world.clock.advance(minutes(2));
  assert.deepEqual(deletedPods(world), []);
  await assertBlockedBy([world, operator], ['BudgetRefused']);
  await world.close();
});

test('a budget of a definition that was there all the time ends a rollout at once', async () => {
  const world = await World.create(group);
  await install(world);
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(1));
  await world.setImage(images.new);
  await world.clock.advance(seconds(4));
  await forbid(world);
  const from = world.clock.now();
  await world.clock.advance(minutes(2));
  assert.deepEqual(podsDeletedSince(world, from + 1_000), []);
  await assertBlockedBy([world, operator], ['BudgetRefused']);
  assert.ok(deletedPods(world).length < 9);
  await world.close();
});

test('a budget ends a rollout within 10 s although the watch of budgets says nothing any more', async () => {
  const world = await World.create(group);
  await install(world);
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(1));
  const speak = silence(
    world,
    operator,
    `${resourceTypes.zoneAwarePodDisruptionBudgets.plural}.${resourceTypes.zoneAwarePodDisruptionBudgets.group}`,
  );
  await world.setImage(images.new);
  await world.clock.advance(seconds(4));
  await forbid(world);
  const from = world.clock.now();
  await world.clock.advance(minutes(2));
  assert.deepEqual(podsDeletedSince(world, from + 10_000), []);
  speak();
  await world.clock.advance(seconds(10));
  await assertBlockedBy([world, operator], ['BudgetRefused']);
  assert.ok(deletedPods(world).length < 9);
  await world.close();
});
