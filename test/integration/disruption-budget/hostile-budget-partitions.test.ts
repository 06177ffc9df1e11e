/** What a hostile review of disruption budgets tried: partitions with a delay across zones, and times that are wrong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import type { World } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { givenAway, patchPod } from '../stages/budget-stage.ts';
import { endAll, ledUnderBudget, threeByThree } from '../stages/eviction-replica.ts';
import { deletionsSince, eventsAbout } from '../stages/hostile-stage.ts';
import { assertAtRest, blockedBy } from '../stages/rollout-stage.ts';
import { partitioned } from './budgeted-stage.ts';

/** One pod of each ordinal at a time; another zone only after `delay`. */
function delayed(delay: string): JsonObject {
  return { maxUnavailable: 1, crossZoneEvictionDelay: delay, ...partitioned };
}

/** Asserts that pods of one ordinal went a minute apart from each other. */
function assertDelayKept(world: World): void {
  const deletions = deletionsSince(world, 0);
  assert.equal(deletions.length, 9);
  for (const ordinal of [0, 1, 2]) {
    const times = deletions.filter(({ pod }) => pod.endsWith(`-${ordinal}`)).map(({ at }) => at);
    for (const [index, at] of times.entries()) {
      const before = times[index - 1];
      assert.ok(before === undefined || at - before >= 60_000, `${ordinal}: ${times.join()}`);
    }
  }
}

test('a rollout keeps the delay between zones, ends, and leaves nothing in the ledger', async () => {
  const { world, two } = await ledUnderBudget(delayed('1m'));
  await world.setImage(images.new);
  await world.untilRolled(images.new, minutes(120));
  assertDelayKept(world);
  await assertAtRest(world);
  assert.deepEqual(givenAway(world), []);
  await endAll(world, two);
});

for (const [what, value] of Object.entries({
  malformed: 'yesterday',
  'an hour ahead': '2026-01-01T05:00:00Z',
  'of the year 9999': '9999-12-31T23:59:59Z',
  huge: 'x'.repeat(5_000),
})) {
  test(`a ready time that is ${what} keeps nobody for longer than the delay`, async () => {
    const { world, two } = await ledUnderBudget(delayed('1m'));
    await world.clock.advance(minutes(5));
    await patchPod(world, 'ingester-zone-b-0', {
      annotations: { 'grafana.com/ready-time': value },
    });
    await world.clock.advance(minutes(2));
    assert.equal(await two.evict('a-0'), 'allowed');
    assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
    await endAll(world, two);
  });
}

for (const step of [60, -60, 2, -2]) {
  test(`an operator whose clock steps by ${step} min keeps the delay between zones, and ends`, async () => {
    const { world, operator, two } = await ledUnderBudget(delayed('1m'));
    await world.setImage(images.new);
    await world.clock.advance(seconds(10));
    operator.stepWallClock(minutes(step));
    await world.untilRolled(images.new, minutes(120));
    assertDelayKept(world);
    await endAll(world, two);
  });
}

test('a rollout that the delay holds names the pods, the partition, the budget and the end (LIVE-2)', async () => {
  const { world, operator, two } = await ledUnderBudget(delayed('10m'));
  await world.setImage(images.new);
  await world.clock.advance(minutes(3));
  assert.equal(await blockedBy(world, operator), 'BudgetRefused');
  const said = world.zones
    .flatMap((zone) => eventsAbout(world, `ingester-zone-${zone}`))
    .filter(({ reason }) => reason === 'BudgetRefused')
    .map(({ message }) => message);
  const wanted =
    /^ingester-zone-.* may not go: .*partition \d \(ZoneAwarePodDisruptionBudget ingester\): ingester-zone-[abc]-\d is .*until/;
  assert.ok(
    said.some((message) => wanted.test(message)),
    said.join('\n'),
  );
  await endAll(world, two);
});

test('sets whose pods go in order roll under a budget of partitions', async () => {
  const spec = { podManagementPolicy: 'OrderedReady' };
  const { world, two } = await ledUnderBudget(
    { maxUnavailable: 1, ...partitioned },
    { ...threeByThree, spec },
  );
  await world.setImage(images.new);
  await world.untilRolled(images.new, minutes(60));
  await assertAtRest(world);
  assert.deepEqual(givenAway(world), []);
  await endAll(world, two);
});
