/** What a hostile review of disruption budgets tried: API servers that fail while a budget is asked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { images } from '#support/world/world-group.ts';
import { dropBudget, givenAway, makeBudget } from '../stages/budget-stage.ts';
import { endAll, ledUnderBudget, replicasUnderBudget } from '../stages/eviction-replica.ts';
import { eventsAbout, forEver } from '../stages/hostile-stage.ts';
import { blockedBy, deletedPods, series } from '../stages/rollout-stage.ts';

for (const [what, action, probability] of [
  ['takes 500 ms', { kind: 'delay', delay: seconds(0.5) }, 1],
  ['fails each fifth request', { kind: 'error', code: 500 }, 0.2],
  ['does not answer', { kind: 'delay', delay: forEver }, 1],
] as const) {
  test(`while the API server ${what}, each eviction is allowed or gets 429, in time (LOAD-3)`, async () => {
    const { world, one, two } = await replicasUnderBudget();
    const undo = ['one', 'two'].map((client) =>
      world.cluster.faults.add({ match: { client }, action, probability }),
    );
    const asked = [];
    for (let at = 0; at < 30; at += 1) {
      for (const pod of ['a-0', 'a-1', 'b-0', 'c-2']) asked.push(one.ask(pod), two.ask(pod));
      await world.clock.advance(seconds(1));
    }
    for (const { answer, took } of await world.run(Promise.all(asked))) {
      assert.match(answer, /^(allowed$|429 )/);
      assert.ok(took <= seconds(5));
    }
    const zones = new Set((givenAway(world) ?? []).map((name) => name.split('-')[2]));
    assert.ok(zones.size <= 1, [...zones].join());
    for (const end of undo) end();
    await world.clock.advance(minutes(3));
    assert.equal(await two.evict('c-0'), 'allowed');
    await endAll(world, one, two);
  });
}

test('while ConfigMaps are forbidden evictions get 429, and few requests are sent', async () => {
  const { world, one, two } = await replicasUnderBudget();
  world.cluster.faults.add({
    match: { client: 'two', resource: 'configmaps' },
    action: { kind: 'error', code: 403 },
  });
  const from = world.clock.now();
  for (let at = 0; at < 20; at += 1) {
    const asked = Array.from({ length: 10 }, () => two.ask('a-0'));
    await world.clock.advance(seconds(0.5));
    for (const { answer } of await world.run(Promise.all(asked))) assert.match(answer, /^429 /);
  }
  assert.ok(two.calls(from).length <= 100, String(two.calls(from).length));
  assert.deepEqual(givenAway(world), []);
  await endAll(world, one, two);
});

for (const [what, verb, action] of [
  ['reads of ledgers fail', 'get', { kind: 'error', code: 500 }],
  ['reads of ledgers are refused', 'get', { kind: 'error', code: 403 }],
  ['reads of ledgers never end', 'get', { kind: 'delay', delay: forEver }],
  ['answers to writes of ledgers are lost', 'update', { kind: 'drop', when: 'after' }],
] as const) {
  test(`while ${what}, nothing is asked in a loop, and the rollout goes on once that ends`, async () => {
    const { world, operator, two } = await ledUnderBudget();
    const { client } = operator;
    const match = { client, verb, resource: 'configmaps' };
    const undo = world.cluster.faults.add({ match, action });
    await world.setImage(images.new);
    const from = world.clock.now();
    await world.clock.advance(minutes(10));
    const calls = world.cluster.eventLog.calls
      .filter((call) => call.client === client && call.startedAt >= from)
      .filter((call) => call.verb !== 'watch' && !call.resource.startsWith('leases'))
      .map((call) => `${call.verb} ${call.resource}`);
    for (const each of new Set(calls)) {
      assert.ok(calls.filter((call) => call === each).length <= 200, each);
    }
    if (deletedPods(world).length === 0) {
      assert.notEqual(await blockedBy(world, operator), undefined);
    }
    undo();
    await world.untilRolled(images.new, minutes(3));
    await world.clock.advance(seconds(30));
    assert.deepEqual(givenAway(world), []);
    await endAll(world, two);
  });
}

test('while two budgets overlap, the rollout waits, names both, and goes on once one is gone (LIVE-2)', async () => {
  const { world, operator, two } = await ledUnderBudget();
  await makeBudget(world, {}, 'other');
  await world.setImage(images.new);
  await world.clock.advance(minutes(10));
  assert.deepEqual(deletedPods(world), []);
  assert.equal(await blockedBy(world, operator), 'BudgetUnclear');
  const said = eventsAbout(world, 'ingester-zone-a').map(({ message }) => message);
  assert.ok(said.some((message) => message.includes('ingester') && message.includes('other')));
  await dropBudget(world, 'other');
  await world.untilRolled(images.new);
  await endAll(world, two);
});

test('a budget that cannot be read, and two over one pod, show in the gauge of problems', async () => {
  const { world, operator, two } = await ledUnderBudget();
  await makeBudget(world, { maxUnavailable: 1, podNamePartitionRegex: '([bad' }, 'broken');
  await makeBudget(world, { maxUnavailable: 1 }, 'second');
  await world.clock.advance(minutes(5));
  const shown = await series(world, operator, 'rollout_operator_disruption_budget_problem');
  for (const name of ['broken', 'second', 'ingester']) {
    assert.ok(
      shown.some((each) => each.includes(`"${name}"`)),
      `${name}: ${shown.join()}`,
    );
  }
  await endAll(world, two);
});
