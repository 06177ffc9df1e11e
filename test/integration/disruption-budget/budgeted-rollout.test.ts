/** Rollouts under ZoneAwarePodDisruptionBudgets: all ends, all is kept, and nothing stays given away. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import type { World } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';
import { budgetedWorld, dropBudget, givenAway, makeBudget } from '../stages/budget-stage.ts';
import { assertBlockedBy } from '../stages/hostile-stage.ts';
import { assertAtRest, assertKept, deletedPods } from '../stages/rollout-stage.ts';
import {
  ledgerWrites,
  mostGivenAway,
  nine,
  partitioned,
  roll,
  underBudget,
} from './budgeted-stage.ts';

/** Asserts that all nine pods went once, all was kept, and nothing is given away any more. */
async function assertRolled(world: World): Promise<void> {
  assert.equal(new Set(deletedPods(world)).size, 9);
  assert.equal(deletedPods(world).length, 9);
  await world.clock.advance(seconds(10));
  assert.deepEqual(givenAway(world), []);
  await assertAtRest(world);
  await world.close();
}

test('a rollout under a budget of one goes pod by pod, and writes the ledger once a pod', async () => {
  const { world } = await underBudget({ maxUnavailable: 1 });
  await roll(world);
  await world.clock.advance(seconds(10));
  assert.equal(mostGivenAway(world), 1);
  // The last write takes out the last pod.
  assert.ok(ledgerWrites(world).length <= 9 * 1.1 + 1, `${ledgerWrites(world).length} writes`);
  await assertRolled(world);
});

test('in partition mode a rollout goes on with the whole of a zone, as far as its own limit allows', async () => {
  const { world } = await underBudget({ maxUnavailable: 1, ...partitioned });
  await roll(world);
  assert.equal(mostGivenAway(world), 2);
  await assertRolled(world);
});

test('in partition mode a zone waits until the replicas of the one before were ready for the delay', async () => {
  const { world } = await underBudget({
    maxUnavailable: 1,
    crossZoneEvictionDelay: '5m',
    ...partitioned,
  });
  const { clock } = world;
  await clock.advance(minutes(6));
  const took = await roll(world);
  assert.ok(took > minutes(10) && took < minutes(12), `${took} ms`);
  await assertRolled(world);
});

for (const resource of ['pods', 'statefulsets']) {
  test(`a list of ${resource} that takes 12 s, whichever it is, is no fault of the program where a budget is asked`, async () => {
    for (let nth = 1; nth <= 6; nth += 1) {
      const { world } = await underBudget({ maxUnavailable: 1 });
      const faults: string[] = [];
      world.onLog.add(({ level, message }) => {
        if (level === 'error') faults.push(`${nth}: ${message}`);
      });
      const match = { user: OPERATOR_USER, verb: 'list', resource };
      const action = { kind: 'delay', delay: seconds(12) } as const;
      world.cluster.faults.add({ match, action, nth, count: 1 });
      await roll(world);
      assert.deepEqual(faults, []);
      await assertRolled(world);
    }
  });
}

test('a budget of none lets a rollout go by its own limit', async () => {
  const { world } = await underBudget({ maxUnavailable: 0 });
  await roll(world);
  assert.equal(mostGivenAway(world), 2);
  await assertRolled(world);
});

test('a budget in percent is one of the set, never less than one', async () => {
  for (const [percent, most] of [
    [1, 1],
    [70, 2],
  ] as const) {
    const { world } = await underBudget({ maxUnavailablePercentage: percent });
    await roll(world);
    assert.equal(mostGivenAway(world), most);
    await assertRolled(world);
  }
});

test('twenty pods at once share a few writes of the ledger', async () => {
  const options = { replicas: 20, maxUnavailable: '20' };
  const { world } = await underBudget({ maxUnavailable: 20 }, options);
  await roll(world);
  await world.clock.advance(seconds(10));
  assert.equal(mostGivenAway(world), 20);
  const { length } = ledgerWrites(world);
  assert.ok(length <= 12, `${length} writes for 60 pods`);
  assert.deepEqual(givenAway(world), []);
  await assertAtRest(world);
  await world.close();
});

test('two budgets over a group hold it, and it goes on under the one that stays', async () => {
  const { world, operator } = await underBudget({ maxUnavailable: 1 });
  await makeBudget(world, { maxUnavailable: 2 }, 'another');
  await world.clock.advance(seconds(20));
  await world.setImage(images.new);
  await world.clock.advance(minutes(3));
  assert.deepEqual(deletedPods(world), []);
  await assertBlockedBy([world, operator], ['BudgetUnclear']);
  await dropBudget(world, 'another');
  await world.untilRolled(images.new);
  await assertRolled(world);
});

test('a budget that selects one zone alone lets nothing of that zone go', async () => {
  const name = 'ingester-zone-a';
  const { world, operator } = await underBudget({ selector: { matchLabels: { name } } });
  await world.setImage(images.new);
  await world.clock.advance(minutes(3));
  assert.deepEqual(deletedPods(world), []);
  await assertBlockedBy([world, operator], ['BudgetRefused']);
  assertKept(world);
  await world.close();
});

test('a budget that is made in mid-rollout counts what is under way', async () => {
  const world = await budgetedWorld(nine);
  await world.readyOperator();
  await world.clock.advance(minutes(1));
  await world.setImage(images.new);
  await world.clock.advance(seconds(1));
  assert.equal(deletedPods(world).length, 2);
  await makeBudget(world, { maxUnavailable: 1 });
  await world.untilRolled(images.new);
  await assertRolled(world);
});

test('an operator that is killed in mid-rollout leaves a ledger by which its successor ends the rollout', async () => {
  const { world, operator } = await underBudget({ maxUnavailable: 1 });
  await world.setImage(images.new);
  await world.clock.advance(seconds(4));
  operator.kill({ late: 'seeded' });
  world.replaceOperator(seconds(1));
  await world.untilRolled(images.new);
  await assertRolled(world);
});

test('of two operators one rolls, and the other goes on by the same ledger when that ends', async () => {
  const { world, operator } = await underBudget({ maxUnavailable: 1 }, { ...nine, operators: 2 });
  const second = world.startOperator();
  await world.untilReady(second);
  await world.setImage(images.new);
  await world.clock.advance(seconds(4));
  await world.run(operator.stop());
  await world.untilRolled(images.new);
  await assertRolled(world);
});

test('two groups under one budget take turns, set by set', async () => {
  const everything = { selector: { matchLabels: {} } };
  const { world } = await underBudget({ ...everything, maxUnavailable: 1 });
  await world.addGroup('store', nine);
  // The new group waits for whatever an earlier process may have sent.
  await world.clock.advance(minutes(3));
  await world.setImage(images.new);
  await world.setImageOf('store', images.new);
  await world.untilRolled(images.new);
  await world.clock.runUntil(() => world.isComplete(images.new, 'store'));
  await world.clock.advance(seconds(10));
  assert.equal(deletedPods(world).length, 18);
  assert.deepEqual(givenAway(world), []);
  await assertAtRest(world);
  await world.close();
});

test('a rollout goes on, zone by zone, when a user scales another zone down', async () => {
  const { world } = await underBudget({ maxUnavailable: 1 });
  await world.setImage(images.new, ['b']);
  await world.clock.advance(seconds(1));
  assert.deepEqual(deletedPods(world), ['ingester-zone-b-0']);
  await world.patchSet('a', { spec: { replicas: 2 } });
  await world.clock.advance(minutes(2));
  assert.equal(deletedPods(world).length, 3);
  assert.deepEqual(givenAway(world), []);
  assertKept(world);
  await world.close();
});
