/** What a hostile review of disruption budgets tried: budgets that a follower does not see, or that change while it answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { zoneAwarePodDisruptionBudgetDefinition } from '#disruption-budget/api.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { World } from '#support/world/world.ts';
import { GROUP, NAMESPACE, setOf } from '#support/world/world-group.ts';
import {
  budgetedWorld,
  dropBudget,
  givenAway,
  makeBudget,
  patchBudget,
} from '../stages/budget-stage.ts';
import {
  EvictionReplica,
  endAll,
  replicasUnderBudget,
  replicasWithoutBudget,
  threeByThree,
} from '../stages/eviction-replica.ts';

/** Lets nothing of `resource` reach the watches that the second replica has now. */
function silenceSecond(world: World, resource: string): void {
  for (const each of world.cluster.faults.watches({ client: 'two' })) {
    if (each.options.resource?.startsWith(resource)) each.pause();
  }
}

for (const age of [seconds(15), seconds(60)]) {
  test(`a budget made ${age / 1_000} s ago, which the watch of a replica does not tell, binds evictions there (D-51)`, async () => {
    const { world, one, two } = await replicasWithoutBudget();
    silenceSecond(world, 'zoneaware');
    await makeBudget(world);
    await world.clock.advance(age);
    assert.equal(await two.evict('a-0'), 'allowed');
    assert.match(await two.evict('b-0'), /^429 /);
    assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
    await endAll(world, one, two);
  });

  test(`a budget lowered to 0 ${age / 1_000} s ago, which the watch of a replica does not tell, lets nothing go (D-51)`, async () => {
    const { world, one, two } = await replicasUnderBudget();
    silenceSecond(world, 'zoneaware');
    await patchBudget(world, { maxUnavailable: 0 });
    await world.clock.advance(age);
    assert.match(await two.evict('a-0'), /^4/);
    assert.deepEqual(givenAway(world), []);
    await endAll(world, one, two);
  });
}

for (const [what, match] of Object.entries({
  'the view of the pods is proven': { verb: 'list', resource: 'pods' },
  'the ledger is read': { verb: 'get', resource: 'configmaps' },
} as const)) {
  for (const [change, apply] of Object.entries({
    'is lowered to 0': (world: World) => patchBudget(world, { maxUnavailable: 0 }),
    'is joined by a second one': (world: World) =>
      makeBudget(world, { maxUnavailable: 0 }, 'second'),
  })) {
    test(`a budget that ${change} while ${what} lets nothing go (D-36, D-49)`, async () => {
      const { world, one, two } = await replicasUnderBudget();
      await world.clock.advance(seconds(30));
      world.cluster.faults.add({
        match: { client: 'two', ...match },
        action: { kind: 'delay', delay: seconds(2) },
        count: 9,
      });
      const asked = two.ask('a-0');
      await world.clock.advance(seconds(0.5));
      await apply(world);
      await world.clock.advance(seconds(0.5));
      assert.match((await world.run(asked)).answer, /^4/);
      await endAll(world, one, two);
    });
  }
}

test('a limit that is lowered counts for a ledger that is open', async () => {
  const { world, one, two } = await replicasUnderBudget({ maxUnavailable: 2 });
  assert.equal(await two.evict('a-0'), 'allowed');
  await patchBudget(world, { maxUnavailable: 1 });
  await world.clock.advance(seconds(1));
  assert.match(await two.evict('a-1'), /^429 /);
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  await endAll(world, one, two);
});

test('a limit that is lowered counts, too, for a rollout that asks while the ledger is looked at again', async () => {
  const { world, one, two } = await replicasUnderBudget({ maxUnavailable: 2 });
  await patchBudget(world, { maxUnavailable: 1 });
  // The first look was when the budget was made, 11 s ago; another comes every five minutes.
  await world.clock.advance(seconds(287));
  world.cluster.faults.add({
    match: { client: 'one', verb: 'list', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(3) },
  });
  const { authority } = one.budgets;
  const wanted = ['a-0', 'a-1'].map((slot) => {
    const pod = authority.evictions.pod(NAMESPACE, `ingester-zone-${slot}`);
    assert.ok(pod);
    return { pod, by: 'rollout', maxUnavailable: 2 } as const;
  });
  authority.of('rollout-groups').wants('demo/ingester', new Set(wanted.map(({ pod }) => pod.uid)));
  const asked = authority.ask(wanted, new AbortController().signal);
  await world.clock.advance(seconds(4.5));
  await world.run(asked);
  assert.equal(givenAway(world)?.length, 1);
  await endAll(world, one, two);
});

test('evictions obey a budget within 10 s whose type was installed a moment ago (D-51)', async () => {
  const world = await World.create(threeByThree);
  for (const zone of world.zones) {
    await world.patchSet(zone, { metadata: { labels: { app: GROUP } } });
  }
  const two = await EvictionReplica.start(world, 'two');
  await world.clock.advance(seconds(32));
  const body = zoneAwarePodDisruptionBudgetDefinition;
  await world.run(world.admin.create(resourceTypes.customResourceDefinitions, {}, { body }));
  await world.clock.advance(seconds(1));
  await makeBudget(world);
  await world.clock.advance(seconds(10));
  for (let at = 0; at < 50; at += 1) {
    assert.match(await two.evict('a-0', { isDryRun: true }), /^429 /);
    await world.clock.advance(seconds(1));
  }
  await endAll(world, two);
});

test('evictions are free again once the budget is gone, and nothing of its ledger is written any more', async () => {
  const { world, one, two } = await replicasUnderBudget();
  assert.equal(await one.evict('a-0'), 'allowed');
  await dropBudget(world);
  await world.clock.advance(seconds(1));
  const from = world.clock.now();
  assert.equal(await two.evict('b-0'), 'allowed');
  await world.clock.advance(minutes(5));
  const calls = [...one.calls(from), ...two.calls(from)];
  assert.deepEqual(
    calls.filter((call) => call.endsWith(' configmaps')),
    [],
  );
  await endAll(world, one, two);
});

for (const code of [403, 503]) {
  test(`while a replica may not, or cannot, list budgets (${code}), it lets nothing go`, async () => {
    const world = await budgetedWorld(threeByThree);
    world.cluster.faults.add({
      match: { client: 'two', resource: 'zoneawarepoddisruptionbudgets' },
      action: { kind: 'error', code },
    });
    await makeBudget(world);
    const two = await EvictionReplica.start(world, 'two');
    await world.clock.advance(minutes(1));
    for (const pod of ['a-0', 'b-0']) assert.match(await two.evict(pod), /^429 /);
    assert.equal(givenAway(world), undefined);
    await endAll(world, two);
  });
}

test('a pod whose set a replica has not seen yet waits, and is judged once it is seen', async () => {
  const { world, one, two } = await replicasUnderBudget();
  silenceSecond(world, 'statefulsets');
  const at = { namespace: NAMESPACE, name: 'ingester-zone-d' };
  const body = setOf({ zone: 'd' }, { replicas: 2 });
  await world.run(world.admin.create(resourceTypes.statefulSets, at, { body }));
  await world.clock.advance(seconds(20));
  assert.match(await two.evict('d-0'), /^429 .*has not been seen yet/);
  for (const each of world.cluster.faults.watches({ client: 'two' })) each.resume();
  await world.clock.advance(minutes(2));
  assert.match(await two.evict('d-0'), /^429 .*is not selected/);
  assert.deepEqual(givenAway(world), []);
  await endAll(world, one, two);
});
