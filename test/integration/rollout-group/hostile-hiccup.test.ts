import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { timestamp } from '#cluster/clock/timestamp.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { assertBlockedBy, podsDeletedSince, setReady } from '../stages/hostile-stage.ts';
import { deletedPods } from '../stages/rollout-stage.ts';

/** Three zones of three, one pod at a time. */
const group: WorldOptions = { replicas: 3, maxUnavailable: '1' };

/** All pods of {@link group}, in the order in which a rollout takes them. */
const inOrder = ['a', 'b', 'c'].flatMap((zone) =>
  [0, 1, 2].map((ordinal) => `ingester-zone-${zone}-${ordinal}`),
);

test('readiness probes that fail for 2 s everywhere in mid-rollout cost no pod: each goes once, in its turn', async () => {
  const world = await World.create(group);
  await world.readyOperator();
  await world.clock.advance(seconds(10));
  await world.setImage(images.new);
  await world.clock.advance(seconds(0.5));
  assert.deepEqual(deletedPods(world), ['ingester-zone-a-0']);
  const from = world.clock.now();
  const hiccup = world.kubelet.behaviours.add({ behave: 'neverReady', match: {} });
  await world.clock.advance(seconds(2));
  assert.deepEqual(podsDeletedSince(world, from), []);
  hiccup.remove();
  await world.untilRolled(images.new);
  assert.deepEqual(deletedPods(world), inOrder);
  await world.close();
});

for (const replay of [20, 45]) {
  test(`a change of the template restarts no store that replays its log for ${replay} minutes, and rolls after it`, async () => {
    const world = await World.create(group);
    const operator = await world.readyOperator();
    await world.clock.advance(seconds(10));
    const by = minutes(replay);
    const slow = world.kubelet.behaviours.add({ behave: 'slowStart', by, match: {} });
    for (const zone of world.zones) await world.deletePod(`ingester-zone-${zone}-1`);
    await world.clock.advance(minutes(1));
    await world.setImage(images.new);
    await world.clock.advance(minutes(replay - 2));
    assert.deepEqual(deletedPods(world), []);
    await assertBlockedBy([world, operator], ['MultipleZonesUnavailable']);
    await world.clock.advance(minutes(2));
    slow.remove();
    await world.untilRolled(images.new);
    assert.deepEqual(deletedPods(world), inOrder);
    await world.close();
  });
}

test('half of the nodes out of reach for 40 s, their pods serving on, cost no pod', async () => {
  const world = await World.create(group);
  await world.readyOperator();
  await world.clock.advance(seconds(10));
  await world.setImage(images.new);
  await world.clock.advance(seconds(0.5));
  const from = world.clock.now();
  const unreachable = ['a-1', 'b-0', 'b-1', 'c-0', 'c-2'].map((pod) => `ingester-zone-${pod}`);
  const mark = async (status: string): Promise<void> => {
    const lastTransitionTime = timestamp(world.clock.now());
    for (const pod of unreachable) await setReady(world, pod, { status, lastTransitionTime });
  };
  await mark('Unknown');
  await world.clock.advance(seconds(40));
  assert.deepEqual(podsDeletedSince(world, from), []);
  await mark('True');
  await world.untilRolled(images.new);
  assert.deepEqual(deletedPods(world), inOrder);
  await world.close();
});

for (const minReadySeconds of [0, 30]) {
  test(`pods that are Ready without a time, and minReadySeconds ${minReadySeconds}, never go two at a time`, async () => {
    const world = await World.create({ ...group, spec: { minReadySeconds } });
    await world.readyOperator();
    await world.clock.advance(minutes(1));
    for (const pod of inOrder) {
      await setReady(world, pod, { status: 'True', lastTransitionTime: null });
    }
    await world.setImage(images.new);
    for (let second = 0; second < 40 * 60; second += 1) {
      await world.clock.advance(seconds(1));
      const down = inOrder.filter((pod) => !isServing(world, pod));
      assert.ok(down.length <= 1, `down at ${second} s: ${down.join(', ')}`);
    }
    assert.ok(world.isComplete(images.new) || minReadySeconds > 0, 'it has not ended after 40 min');
    await world.close();
  });
}

function isServing(world: World, name: string): boolean {
  const pod = world.stored('pods', name);
  const ready = objectsAt(pod, 'status', 'conditions').find(({ type }) => type === 'Ready');
  return textAt(pod, 'metadata', 'deletionTimestamp') === '' && ready?.['status'] === 'True';
}
