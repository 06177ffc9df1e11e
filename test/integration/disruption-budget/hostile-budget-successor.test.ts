/** What a hostile review of disruption budgets tried: evictions that meet the successor of the pod that was judged. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import type { World } from '#support/world/world.ts';
import { givenAway, makeBudget, patchPod } from '../stages/budget-stage.ts';
import { endAll, replicasUnderBudget, replicasWithoutBudget } from '../stages/eviction-replica.ts';

const a0 = 'ingester-zone-a-0';
const notSeen = /^429 .*the pod, as it is now, has not been seen by this operator yet/;

/** Lets nothing of pods reach the watch that the second replica has now. */
function silenceSecond(world: World): void {
  for (const each of world.cluster.faults.watches({ client: 'two' })) {
    if (each.options.resource === 'pods') each.pause();
  }
}

test('a pod is not given away whose successor serves by now, though the cache still has it (BUDG-2)', async () => {
  const { world, one, two } = await replicasUnderBudget();
  assert.equal(await two.evict('a-1', { isDryRun: true }), 'allowed');
  silenceSecond(world);
  await world.deletePod(a0);
  await world.clock.advance(seconds(4));
  // What had been let go would still be under way when the other zone is given away.
  assert.match(await two.evict('a-0'), notSeen);
  assert.equal(await one.evict('b-0'), 'allowed');
  await endAll(world, one, two);
});

test('a pod is not given away that was replaced while that was written down (BUDG-2)', async () => {
  const { world, one, two } = await replicasUnderBudget();
  world.cluster.faults.add({
    match: { client: 'two', verb: 'update', resource: 'configmaps' },
    action: { kind: 'delay', delay: seconds(4) },
    count: 1,
  });
  const asked = two.ask('a-0');
  await world.clock.advance(seconds(0.1));
  await world.deletePod(a0);
  assert.match((await world.run(asked)).answer, notSeen);
  await endAll(world, one, two);
});

test('what is given away twice is not given to the successor of its pod (BUDG-5)', async () => {
  const { world, one, two } = await replicasUnderBudget();
  assert.equal(await two.evict('a-0'), 'allowed');
  silenceSecond(world);
  await world.deletePod(a0);
  await world.clock.advance(seconds(4));
  assert.match(await two.evict('a-0'), notSeen);
  assert.equal(await one.evict('b-0'), 'allowed');
  assert.deepEqual(givenAway(world), ['ingester-zone-b-0']);
  await endAll(world, one, two);
});

test('a pod is not let go that has got the labels of a budget, though the cache has it without them (BUDG-2)', async () => {
  const { world, one, two } = await replicasWithoutBudget();
  const labels = { tier: 'stateful' };
  for (const zone of world.zones) {
    await world.patchSet(zone, { metadata: { labels } });
    for (const ordinal of [0, 1, 2]) {
      const pod = `ingester-zone-${zone}-${ordinal}`;
      if (pod !== a0) await patchPod(world, pod, { labels });
    }
  }
  await makeBudget(world, { selector: { matchLabels: labels } });
  await world.clock.advance(seconds(11));
  assert.equal(await two.evict('a-0'), 'allowed');
  silenceSecond(world);
  await patchPod(world, a0, { labels });
  await world.clock.advance(seconds(1));
  assert.equal(await one.evict('b-0'), 'allowed');
  assert.match(await two.evict('a-0'), notSeen);
  await endAll(world, one, two);
});

test('a permission costs one read of its pod, and none where the eviction itself names the pod it is for', async () => {
  const { world, one, two } = await replicasUnderBudget();
  assert.equal(await two.evict('a-0', { isDryRun: true }), 'allowed');
  const read = (from: number): number =>
    two.calls(from).filter((call) => call === 'get pods').length;
  const first = world.clock.now();
  const uid = two.budgets.authority.evictions.pod('demo', a0)?.uid ?? '';
  const object = { deleteOptions: { preconditions: { uid } } };
  assert.equal(await two.evict('a-0', { object }), 'allowed');
  assert.equal(read(first), 0);
  assert.equal(await two.evict('a-0'), 'allowed');
  assert.equal(read(first), 1);
  await endAll(world, one, two);
});
