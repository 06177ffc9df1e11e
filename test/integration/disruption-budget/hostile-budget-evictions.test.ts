/** What a hostile review of disruption budgets tried: evictions that lead to nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, millis, seconds } from '#base/units.ts';
import type { World } from '#support/world/world.ts';
import { givenAway, ledgerName } from '../stages/budget-stage.ts';
import { type EvictionReplica, endAll, replicasUnderBudget } from '../stages/eviction-replica.ts';

/** Asks every 5 s, the replicas in turn. @returns how long until the pod was allowed, ten minutes at most */
async function untilAllowed(
  world: World,
  replicas: readonly EvictionReplica[],
  pod: string,
): Promise<Millis> {
  const from = world.clock.now();
  while (world.clock.now() - from < 600_000) {
    for (const each of replicas) {
      if ((await each.evict(pod)) === 'allowed') return millis(world.clock.now() - from);
      await world.clock.advance(seconds(5));
    }
  }
  return millis(world.clock.now() - from);
}

for (const [what, rest] of Object.entries({
  'of the API server': { isDryRun: true },
  'of the Eviction itself': { object: { deleteOptions: { dryRun: '["All"]' } } },
})) {
  test(`a dry run ${what} is judged by the ledger, and changes nothing in it`, async () => {
    const { world, one, two } = await replicasUnderBudget();
    assert.equal(await one.evict('a-0'), 'allowed');
    await world.clock.advance(seconds(40));
    const before = world.stored('configmaps', ledgerName());
    assert.equal(await two.evict('a-0', rest), 'allowed');
    assert.match(await two.evict('b-1', rest), /^429 /);
    assert.deepEqual(world.stored('configmaps', ledgerName()), before);
    await world.clock.advance(seconds(100));
    assert.equal(await two.evict('b-0', rest), 'allowed');
    assert.ok(!givenAway(world)?.includes('ingester-zone-b-0'));
    await endAll(world, one, two);
  });
}

test('who is not answered in time is refused, and what was stored for him ends within 130 s', async () => {
  const { world, one, two } = await replicasUnderBudget();
  world.cluster.faults.add({
    match: { client: 'one', verb: 'update', resource: 'configmaps' },
    action: { kind: 'delay', delay: seconds(6), when: 'after' },
    count: 1,
  });
  const { answer, took } = await world.run(one.ask('a-0'));
  assert.match(answer, /^429 /);
  assert.ok(took <= seconds(5));
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  assert.ok((await untilAllowed(world, [two], 'b-0')) <= seconds(130));
  assert.deepEqual(givenAway(world), ['ingester-zone-b-0']);
  await endAll(world, one, two);
});

test('an eviction that a native budget refuses again and again keeps others for 130 s at most after the last attempt (LIVE-4)', async () => {
  const { world, one, two } = await replicasUnderBudget();
  assert.equal(await one.evict('a-0'), 'allowed');
  for (let at = 0; at < 60; at += 1) {
    await world.clock.advance(seconds(5));
    await one.evict('a-0');
  }
  assert.ok((await untilAllowed(world, [two], 'b-0')) <= seconds(130));
  assert.deepEqual(givenAway(world), ['ingester-zone-b-0']);
  await endAll(world, one, two);
});

test('a permission that is not used keeps others for 130 s at most where replicas share their attempts (LIVE-4)', async () => {
  const { world, one, two } = await replicasUnderBudget();
  assert.equal(await one.evict('a-0'), 'allowed');
  assert.ok((await untilAllowed(world, [one, two], 'b-0')) <= seconds(130));
  assert.deepEqual(givenAway(world), ['ingester-zone-b-0']);
  await endAll(world, one, two);
});

test('an Eviction that demands another uid reserves nothing', async () => {
  const { world, one, two } = await replicasUnderBudget();
  const object = { deleteOptions: { preconditions: { uid: 'of-another-pod' } } };
  await two.evict('a-0', { object });
  assert.deepEqual(givenAway(world), []);
  assert.equal(await two.evict('b-0'), 'allowed');
  await endAll(world, one, two);
});

test('two replicas that both saw a permission take it out once, with few writes (LOAD-5)', async () => {
  const { world, one, two } = await replicasUnderBudget();
  const from = world.clock.now();
  assert.equal(await one.evict('a-0'), 'allowed');
  assert.match(await two.evict('b-0'), /^429 /);
  await world.clock.advance(seconds(300));
  assert.deepEqual(givenAway(world), []);
  const calls = [...one.calls(from), ...two.calls(from)];
  assert.ok(calls.filter((call) => call === 'update configmaps').length <= 3, calls.join());
  await endAll(world, one, two);
});
