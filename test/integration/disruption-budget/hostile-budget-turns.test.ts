/** What a hostile review of disruption budgets tried: those who want pods of one budget at once, and who is kept for ever. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { GROUP, images, NAMESPACE } from '#support/world/world-group.ts';
import { budgetedWorld, givenAway, makeBudget, patchPod } from '../stages/budget-stage.ts';
import { endAll, ledUnderBudget, threeByThree } from '../stages/eviction-replica.ts';
import { eventsAbout } from '../stages/hostile-stage.ts';
import { assertAtRest, assertKept, blockedBy, deletedPods } from '../stages/rollout-stage.ts';

for (const every of [seconds(5), seconds(30)]) {
  test(`a rollout goes on while an evictor asks every ${every / 1_000} s for a pod that never goes (LIVE-1)`, async () => {
    const { world, two } = await ledUnderBudget();
    assert.equal(await two.evict('c-0'), 'allowed');
    await world.setImage(images.new);
    for (let at = 0; at * every < minutes(30); at += 1) {
      await two.evict('c-0');
      await world.clock.advance(every);
    }
    assert.ok(deletedPods(world).length > 0);
    assertKept(world);
    await endAll(world, two);
  });
}

test('a rollout goes on while an evictor asks for pods of a zone that never go, one from three minutes after the other on (LIVE-1)', async () => {
  const { world, two } = await ledUnderBudget({ maxUnavailable: 2 });
  assert.equal(await two.evict('c-0'), 'allowed');
  await world.setImage(images.new);
  const every = seconds(5);
  let allowed = 0;
  for (let at = 0; at * every < minutes(30); at += 1) {
    await two.evict('c-0');
    if (at * every >= minutes(3) && (await two.evict('c-1')) === 'allowed') allowed += 1;
    await world.clock.advance(every);
  }
  assert.ok(allowed > 0);
  assert.ok(deletedPods(world).some((name) => !name.includes('zone-c')));
  assertKept(world);
  await endAll(world, two);
});

test('a rollout and evictions that another replica answers take one zone at a time, and both come to an end', async () => {
  const { world, two } = await ledUnderBudget();
  await world.setImage(images.new);
  for (let at = 0; at < 400 && !world.isComplete(images.new); at += 1) {
    const pod = `${'abc'[at % 3]}-${Math.floor(at / 3) % 3}`;
    if ((await two.evict(pod)) === 'allowed') await world.deletePod(`ingester-zone-${pod}`);
    await world.clock.advance(seconds(1.3));
  }
  assert.ok(world.isComplete(images.new));
  assertKept(world);
  await endAll(world, two);
});

test('two groups under one budget take turns, and both come to an end', async () => {
  const world = await budgetedWorld(threeByThree);
  await world.addGroup('store');
  const labels = { app: GROUP };
  for (const zone of world.zones) {
    const name = `store-zone-${zone}`;
    const document = { metadata: { labels }, spec: { template: { metadata: { labels } } } };
    const body = { kind: 'merge', document } as const;
    const key = { namespace: NAMESPACE, name };
    await world.run(world.admin.patch(resourceTypes.statefulSets, key, { body }));
    for (const ordinal of [0, 1, 2]) {
      await patchPod(world, `${name}-${ordinal}`, { labels });
    }
  }
  await world.readyOperator();
  await world.clock.advance(minutes(10));
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  await world.setImage(images.new);
  await world.setImageOf('store', images.next);
  const areDone = (): boolean =>
    world.isComplete(images.new) && world.isComplete(images.next, 'store');
  const end = world.clock.now() + minutes(10);
  await world.clock.runUntil(() => areDone() || world.clock.now() > end);
  assert.ok(areDone());
  assertKept(world);
  await world.close();
});

test('a pod of a set in no group counts, and the rollout names it and goes on once it is back', async () => {
  const world = await budgetedWorld(threeByThree);
  const operator = await world.readyOperator();
  await world.patchSet('c', { metadata: { labels: { 'rollout-group': null } } });
  await world.clock.advance(minutes(3));
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  const match = { name: 'ingester-zone-c-0' };
  world.kubelet.behaviours.add({ behave: 'slow', by: minutes(5), match });
  await world.deletePod(match.name);
  await world.clock.advance(seconds(2));
  await world.setImage(images.new, ['a', 'b']);
  await world.clock.advance(minutes(2));
  assert.deepEqual(deletedPods(world), []);
  assert.equal(await blockedBy(world, operator), 'BudgetRefused');
  const said = eventsAbout(world, 'ingester-zone-a').map(({ message }) => message);
  assert.ok(said.some((message) => message.includes(match.name)));
  await world.clock.advance(minutes(10));
  assert.equal(deletedPods(world).length, 6);
  await world.close();
});

for (const delay of [seconds(0), seconds(0.05)]) {
  test(`a rollout that a permission of another replica holds says whose, of which budget and until when (writes of ${delay} ms)`, async () => {
    const { world, operator, two } = await ledUnderBudget();
    world.cluster.faults.add({
      match: { resource: 'configmaps' },
      action: { kind: 'delay', delay, when: 'after' },
    });
    assert.equal(await two.evict('c-1'), 'allowed');
    await world.setImage(images.new);
    await world.clock.advance(seconds(30));
    assert.equal(await blockedBy(world, operator), 'BudgetRefused');
    const said = eventsAbout(world, 'ingester-zone-a').map(({ message }) => message);
    const wanted = /ZoneAwarePodDisruptionBudget ingester.*ingester-zone-c-1.*until/;
    assert.ok(
      said.some((message) => wanted.test(message)),
      said.join('\n'),
    );
    await world.untilRolled(images.new, minutes(20));
    await assertAtRest(world);
    assert.deepEqual(givenAway(world), []);
    await endAll(world, two);
  });
}
