/** What a hostile review of disruption budgets tried: leaders that are killed, paused or misled, while a drain asks another replica. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, millis, minutes, seconds } from '#base/units.ts';
import { isWhole } from '#support/extent.ts';
import { forbidLeases } from '#support/world/lease-role.ts';
import type { World } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { givenAway } from '../stages/budget-stage.ts';
import {
  type EvictionReplica,
  endAll,
  ledUnderBudget,
  threeByThree,
} from '../stages/eviction-replica.ts';
import { assertKept } from '../stages/rollout-stage.ts';

const group = { ...threeByThree, kubelet: { delays: { stop: seconds(4) } } };

function isReady(world: World, name: string): boolean {
  const pod = world.stored('pods', name) as StoredPod | undefined;
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return false;
  return (pod.status?.conditions ?? []).some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );
}

interface StoredPod {
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** Asks for a pod of zone c every 4 s, as a drain does, and takes what is allowed; no two zones may be down meanwhile. */
async function drain(world: World, two: EvictionReplica, span: Millis): Promise<void> {
  for (let step = 1; step * 500 <= span; step += 1) {
    await world.clock.advance(millis(500));
    const down = world.zones.filter((zone) =>
      [0, 1, 2].some((ordinal) => !isReady(world, `ingester-zone-${zone}-${ordinal}`)),
    );
    assert.ok(down.length <= 1, `${down.join()} are down`);
    const pod = `c-${Math.floor(step / 8) % 3}`;
    if (step % 8 === 0 && (await two.evict(pod)) === 'allowed') {
      await world.deletePod(`ingester-zone-${pod}`);
    }
  }
}

/** How late requests of the dead arrive, in seconds. */
const delays = [0, 60, 110] as const;

for (const [at, [what, match, when]] of (
  [
    ['between the reservation and its answer', { verb: 'update', resource: 'configmaps' }, 'after'],
    ['while its deletion is under way', { verb: 'delete', resource: 'pods' }, 'before'],
    [
      'while the answer to its deletion is under way',
      { verb: 'delete', resource: 'pods' },
      'after',
    ],
  ] as const
).entries()) {
  // In the gate each moment has a delay of its own.
  for (const late of isWhole ? delays : delays.slice(at, at + 1)) {
    test(`a leader that is killed ${what}, and whose requests arrive ${late} s late, lets no two zones be down (EXCL-1)`, async () => {
      const { world, operator, two } = await ledUnderBudget(undefined, group);
      world.cluster.faults.add({
        match: { client: operator.client, ...match },
        action: { kind: 'delay', delay: seconds(3), when },
        count: 1,
      });
      await world.setImage(images.new, ['a', 'b']);
      await world.clock.advance(seconds(1));
      operator.kill({ late: seconds(late) });
      world.startOperator();
      await drain(world, two, minutes(6));
      await world.clock.advance(minutes(8));
      assert.deepEqual(givenAway(world), []);
      await endAll(world, two);
    });
  }
}

for (const span of [minutes(1), minutes(10)]) {
  test(`a leader that is paused for ${span / 60_000} min in the middle of a batch lets no two zones be down (EXCL-1)`, async () => {
    const { world, operator, two } = await ledUnderBudget(undefined, { ...group, operators: 2 });
    await world.untilReady(world.startOperator());
    world.cluster.faults.add({
      match: { client: operator.client, verb: 'update', resource: 'configmaps' },
      action: { kind: 'delay', delay: seconds(3), when: 'after' },
      count: 1,
    });
    await world.setImage(images.new, ['a', 'b']);
    await world.clock.advance(seconds(1));
    operator.pause(span);
    await drain(world, two, minutes(16));
    await world.clock.advance(minutes(3));
    assert.deepEqual(givenAway(world), []);
    await endAll(world, two);
  });
}

for (const step of [minutes(60), minutes(-60)]) {
  test(`a leader whose clock steps by ${step / 60_000} min in the middle of a batch lets no two zones be down, and ends (EXCL-1)`, async () => {
    const { world, operator, two } = await ledUnderBudget(undefined, group);
    await world.setImage(images.new, ['a', 'b']);
    await world.clock.advance(seconds(3));
    operator.stepWallClock(step);
    await drain(world, two, minutes(5));
    await world.clock.advance(minutes(5));
    assert.deepEqual(givenAway(world), []);
    await endAll(world, two);
  });
}

test('an operator that may have no Lease rolls under a budget, and goes on after it is killed', async () => {
  const { world, operator, two } = await ledUnderBudget(undefined, group);
  await world.run(operator.stop());
  forbidLeases(world, 'get', 'list', 'watch', 'create', 'update', 'patch', 'delete');
  const next = await world.readyOperator();
  await world.clock.advance(minutes(3));
  await world.setImage(images.new);
  await world.clock.advance(seconds(5));
  next.kill({ late: seconds(50) });
  await world.readyOperator();
  await world.untilRolled(images.new, minutes(20));
  await world.clock.advance(minutes(3));
  assertKept(world);
  assert.deepEqual(givenAway(world), []);
  await endAll(world, two);
});
