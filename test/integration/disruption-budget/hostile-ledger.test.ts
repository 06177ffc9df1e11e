/** What a hostile review of disruption budgets tried: permissions that outlive their reason, ledgers that are lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import type { World, WorldOptions } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import type { OperatorRun } from '#support/world/world-operator.ts';
import {
  budgetedWorld,
  damageLedger,
  dropBudget,
  givenAway,
  makeBudget,
} from '../stages/budget-stage.ts';
import { callsWithin, eventsAbout, forEver, podsDeletedSince } from '../stages/hostile-stage.ts';
import { assertAtRest, blockedBy, deletedPods } from '../stages/rollout-stage.ts';

/** Three zones of three, one at a time: nine pods go in about half a minute. */
const group: WorldOptions = { replicas: 3, maxUnavailable: '1' };

interface Stage {
  readonly world: World;
  readonly operator: OperatorRun;
}

/** A group at rest under a budget of 1, whose operator has waited for its predecessor. */
async function atRest(options: WorldOptions = group): Promise<Stage> {
  const world = await budgetedWorld(options);
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(3));
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  return { world, operator };
}

/** The same in the middle of a rollout, when the second pod is on its way. */
async function midRollout(options: WorldOptions = group): Promise<Stage> {
  const stage = await atRest(options);
  await stage.world.setImage(images.new);
  await stage.world.clock.advance(seconds(4));
  assert.deepEqual(deletedPods(stage.world), ['ingester-zone-a-0', 'ingester-zone-a-1']);
  return stage;
}

test('a reservation that is stored late lets nothing go once a pod of another zone is down', async () => {
  const { world, operator } = await atRest();
  world.cluster.faults.add({
    match: { client: operator.client, verb: 'update', resource: 'configmaps' },
    action: { kind: 'delay', delay: seconds(3), when: 'after' },
    count: 1,
  });
  await world.setImage(images.new);
  await world.clock.advance(seconds(1));
  assert.deepEqual(deletedPods(world), []);
  await world.deletePod('ingester-zone-b-1');
  await world.clock.advance(seconds(2.1));
  assert.deepEqual(deletedPods(world), []);
  await world.untilRolled(images.new);
  await assertAtRest(world);
  assert.deepEqual(givenAway(world), []);
  await world.close();
});

test('a reservation that is stored late lets nothing go once a pod of the budget is down that is of no zone of the group', async () => {
  const world = await budgetedWorld(group);
  await world.addGroup('store');
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(3));
  await makeBudget(world, { maxUnavailable: 1, selector: { matchLabels: {} } });
  await world.clock.advance(seconds(11));
  world.cluster.faults.add({
    match: { client: operator.client, verb: 'update', resource: 'configmaps' },
    action: { kind: 'delay', delay: seconds(3), when: 'after' },
    count: 1,
  });
  await world.setImage(images.new);
  await world.clock.advance(seconds(2));
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  await world.deletePod('store-zone-b-1');
  await world.clock.advance(seconds(2));
  assert.deepEqual(deletedPods(world), []);
  assert.equal(await blockedBy(world, operator), 'BudgetRefused');
  await world.untilRolled(images.new);
  await assertAtRest(world);
  assert.deepEqual(givenAway(world), []);
  await world.close();
});

test('what was reserved and is not wanted any more, after a rollback, is taken out of the ledger', async () => {
  const { world, operator } = await atRest();
  world.cluster.faults.add({
    match: { client: operator.client, verb: 'update', resource: 'configmaps' },
    action: { kind: 'delay', delay: seconds(3), when: 'after' },
    count: 1,
  });
  await world.setImage(images.new);
  await world.clock.advance(seconds(1));
  await world.setImage(images.old);
  await world.clock.advance(seconds(10));
  assert.deepEqual(deletedPods(world), []);
  assert.deepEqual(givenAway(world), []);
  await world.close();
});

test('a set that leaves the group in the middle of its turn leaves nothing in the ledger', async () => {
  const { world } = await midRollout();
  await world.patchSet('a', { metadata: { labels: { 'rollout-group': null } } });
  await world.clock.advance(minutes(3));
  assert.deepEqual(givenAway(world), []);
  const others = deletedPods(world).filter((name) => !name.includes('zone-a'));
  assert.equal(others.length, 6);
  await world.close();
});

test('a deletion that is under way when the budget is made is in its ledger from the start', async () => {
  const world = await budgetedWorld(group);
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(3));
  world.cluster.faults.add({
    match: { client: operator.client, verb: 'delete', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(20) },
    count: 1,
  });
  await world.setImage(images.new);
  await world.clock.advance(seconds(1));
  assert.deepEqual(deletedPods(world), []);
  await makeBudget(world);
  await world.clock.advance(seconds(1));
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  await world.untilRolled(images.new);
  await assertAtRest(world);
  assert.deepEqual(givenAway(world), []);
  await world.close();
});

test('a budget that is deleted and made again in mid-rollout gives no second zone away', async () => {
  const { world } = await midRollout();
  await dropBudget(world);
  await makeBudget(world);
  await world.untilRolled(images.new);
  await assertAtRest(world);
  await world.close();
});

const lost: Record<string, Parameters<typeof damageLedger>[1]> = {
  'is deleted': 'deleted',
  'is emptied by hand': { reservations: '[]' },
  'is cut off': { reservations: '[{"uid":' },
};

for (const [what, damage] of Object.entries(lost)) {
  test(`while a ledger ${what}, nothing is taken for 120 s, the reason is reported, and the rollout ends (D-34)`, async () => {
    const { world, operator } = await midRollout();
    await damageLedger(world, damage);
    // What was known a moment ago may still be acted on, for 10 s at most.
    await world.clock.advance(seconds(10.1));
    const from = world.clock.now();
    await world.clock.advance(seconds(60));
    assert.deepEqual(podsDeletedSince(world, from), []);
    assert.equal(await blockedBy(world, operator), 'BudgetUnclear');
    const told = eventsAbout(world, 'ingester-zone-a').findLast(
      ({ reason }) => reason === 'BudgetUnclear',
    );
    assert.match(
      told?.message ?? '',
      / may not go: it is unknown which disruptions the ZoneAwarePodDisruptionBudget ingester/,
    );
    await world.untilRolled(images.new);
    await assertAtRest(world);
    assert.deepEqual(givenAway(world), []);
    await world.close();
  });
}

test('a ledger that a newer program wrote is left alone, and read again once it is gone', async () => {
  const { world, operator } = await midRollout();
  await damageLedger(world, { version: '2' });
  await world.clock.advance(seconds(10.1));
  const from = world.clock.now();
  await world.clock.advance(minutes(10));
  assert.deepEqual(podsDeletedSince(world, from), []);
  assert.equal(await blockedBy(world, operator), 'BudgetUnclear');
  await damageLedger(world, 'deleted');
  await world.untilRolled(images.new);
  await assertAtRest(world);
  await world.close();
});

for (const [what, fault] of Object.entries({
  'refuses to write': { verb: 'update', code: 403 },
  'does not answer writes of': { verb: 'update', code: undefined },
} as const)) {
  test(`while the API server ${what} the ledger, nothing is taken, and it is not asked in a loop`, async () => {
    const { world, operator } = await atRest();
    const { verb, code } = fault;
    world.cluster.faults.add({
      match: { client: operator.client, verb, resource: 'configmaps' },
      action: code === undefined ? { kind: 'delay', delay: forEver } : { kind: 'error', code },
    });
    await world.setImage(images.new);
    const from = world.clock.now();
    await world.clock.advance(minutes(10));
    assert.deepEqual(deletedPods(world), []);
    assert.ok(callsWithin(world, [verb, 'configmaps'], [from, minutes(10)]) < 100);
    const reason = await blockedBy(world, operator);
    assert.ok(reason === 'RequestRefused' || reason === 'AwaitingRequest', String(reason));
    await world.close();
  });
}

test('a deletion that is refused for ever stays reserved, is reported, and does not write the ledger again and again [zpdb 117]', async () => {
  const { world, operator } = await atRest();
  world.cluster.faults.add({
    match: { client: operator.client, verb: 'delete', resource: 'pods' },
    action: { kind: 'error', code: 403 },
  });
  await world.setImage(images.new);
  const from = world.clock.now();
  await world.clock.advance(minutes(10));
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  assert.equal(await blockedBy(world, operator), 'RequestRefused');
  assert.ok(callsWithin(world, ['update', 'configmaps'], [from, minutes(10)]) <= 2);
  await world.close();
});

test('a budget that is made before its sets has its ledger at once', async () => {
  const world = await budgetedWorld(group);
  await world.readyOperator();
  await world.clock.advance(minutes(3));
  await makeBudget(world, { selector: { matchLabels: { app: 'store' } } }, 'store');
  await world.clock.advance(seconds(2));
  assert.deepEqual(givenAway(world, 'store'), []);
  await world.close();
});

test('while the deletion of a killed predecessor may still arrive, no ledger of a new budget is begun', async () => {
  const world = await budgetedWorld(group);
  const first = await world.readyOperator();
  await world.clock.advance(minutes(3));
  world.cluster.faults.add({
    match: { client: first.client, verb: 'delete', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(3) },
    count: 1,
  });
  await world.setImage(images.new);
  await world.clock.advance(seconds(1));
  first.kill({ late: seconds(100) });
  await world.readyOperator();
  await makeBudget(world);
  await world.clock.advance(seconds(30));
  assert.equal(givenAway(world), undefined);
  await world.untilRolled(images.new);
  await assertAtRest(world);
  assert.deepEqual(givenAway(world), []);
  await world.close();
});
