/** What a hostile review of disruption budgets tried: two replicas that answer evictions by one ledger. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { images } from '#support/world/world-group.ts';
import { givenAway } from '../stages/budget-stage.ts';
import {
  EvictionReplica,
  endAll,
  ledUnderBudget,
  replicasUnderBudget,
} from '../stages/eviction-replica.ts';

test('what one replica gives away, the other knows: the pod may go there too, one of another zone may not', async () => {
  const { world, one, two } = await replicasUnderBudget();
  assert.equal(await one.evict('a-0'), 'allowed');
  assert.match(await two.evict('b-0'), /^429 /);
  assert.equal(await two.evict('a-0'), 'allowed');
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  await endAll(world, one, two);
});

test('a pod that both replicas are asked for at once is reserved once', async () => {
  const { world, one, two } = await replicasUnderBudget();
  const asked = [one, two, one, two].map((each) => each.ask('a-0'));
  const answers = await world.run(Promise.all(asked));
  assert.ok(answers.some(({ answer }) => answer === 'allowed'));
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  await endAll(world, one, two);
});

test('a repeat is not allowed by a ledger of ten seconds ago, once another replica has given another zone away (BUDG-3)', async () => {
  const { world, one, two } = await replicasUnderBudget();
  // Two has read the ledger before anything was given away.
  assert.equal(await two.evict('c-0', { isDryRun: true }), 'allowed');
  assert.equal(await one.evict('a-0'), 'allowed');
  await world.clock.advance(seconds(100));
  // The evictor of b-0 tries at two, which sees the claim for the first time.
  assert.match(await two.evict('b-0'), /^429 /);
  await world.clock.advance(seconds(13));
  assert.match(await two.evict('b-0'), /^429 /);
  await world.clock.advance(seconds(7.5));
  // 120 s after the permission for a-0, one gives b-0 away, and the evictor of a-0 comes back to two.
  assert.equal(await one.evict('b-0'), 'allowed');
  assert.match(await two.evict('a-0'), /^429 /);
  assert.deepEqual(givenAway(world), ['ingester-zone-b-0']);
  await endAll(world, one, two);
});

for (const ahead of [minutes(60), minutes(-60), minutes(3)]) {
  test(`a replica whose clock is ${ahead / 60_000} min ahead gives no second zone away (BUDG-4)`, async () => {
    const { world, two } = await ledUnderBudget();
    const skewed = await EvictionReplica.start(world, 'skewed', { ahead });
    await world.clock.advance(seconds(15));
    assert.equal(await two.evict('a-0'), 'allowed');
    await world.clock.advance(seconds(1));
    assert.match(await skewed.evict('b-0'), /^429 .*ingester-zone-a-0/);
    assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
    await endAll(world, two, skewed);
  });
}

test('a replica that starts with a clock an hour ahead does not end a permission of a moment ago (BUDG-4)', async () => {
  const { world, one, two } = await replicasUnderBudget();
  assert.equal(await one.evict('a-0'), 'allowed');
  const three = new EvictionReplica(world, 'three', { ahead: minutes(60) });
  await world.clock.advance(seconds(1));
  assert.match(await three.evict('b-0'), /^429 /);
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  await endAll(world, one, two, three);
});

for (const ahead of [seconds(30), seconds(60), minutes(5)]) {
  test(`a process whose clock steps ${ahead / 1_000} s ahead after its start holds a permission for 120 s (BUDG-4)`, async () => {
    const { world, one, two } = await replicasUnderBudget();
    assert.equal(await one.evict('a-0'), 'allowed');
    const from = world.clock.now();
    const three = await EvictionReplica.start(world, 'three');
    three.clock.step(ahead);
    while ((await three.evict('b-0')) !== 'allowed') {
      assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
      await world.clock.advance(seconds(5));
    }
    assert.ok(world.clock.now() - from >= 119_000);
    assert.deepEqual(givenAway(world), ['ingester-zone-b-0']);
    await endAll(world, one, two, three);
  });
}

test('a replica that is killed in the middle of a storm of evictions leaves behind no more than the budget allows (BUDG-1)', async () => {
  const { world, one, two } = await replicasUnderBudget({ maxUnavailable: 2 });
  const allowed = new Set<string>();
  for (const pod of ['a-0', 'b-0', 'a-1', 'c-0', 'a-2']) {
    const told = one.ask(pod).then(({ answer }) => answer === 'allowed' && allowed.add(pod));
    told.catch(() => undefined);
  }
  await world.clock.advance(seconds(0.001));
  one.kill();
  const three = await EvictionReplica.start(world, 'three');
  const pods = ['b-0', 'c-1', 'a-1', 'a-2'];
  const asked = pods.flatMap((pod) => [two.ask(pod), three.ask(pod)]);
  for (const { answer, pod } of await world.run(Promise.all(asked))) {
    if (answer === 'allowed') allowed.add(pod);
  }
  assert.ok(allowed.size <= 2, [...allowed].join());
  assert.ok((givenAway(world) ?? []).length <= 2);
  await endAll(world, two, three);
});

test('a leader rolls on once a replica that gave a pod away has ended (LIVE-3)', async () => {
  const { world, two } = await ledUnderBudget();
  assert.equal(await two.evict('c-0'), 'allowed');
  await world.deletePod('ingester-zone-c-0');
  await two.stop();
  await world.clock.advance(minutes(1));
  await world.setImage(images.new);
  await world.untilRolled(images.new, minutes(20));
  await world.clock.advance(seconds(20));
  assert.deepEqual(givenAway(world), []);
  await world.close();
});
