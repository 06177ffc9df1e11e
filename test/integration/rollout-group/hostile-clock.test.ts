import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, minutes, seconds } from '#base/units.ts';
import { forceAnnotation } from '#support/objects/scaling.ts';
import { World } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { deletedPods, small } from '../stages/rollout-stage.ts';
import { annotateSet, follow, replicasOf } from '../stages/scaling-stage.ts';

for (const refusals of [1, 4]) {
  test(`a wall clock that is set back by an hour delays no scaling that was refused ${refusals} times`, async () => {
    const world = await World.create(small);
    await annotateSet(world, 'a', follow('b'));
    const operator = await world.readyOperator();
    await world.clock.advance(minutes(1));
    const { faults } = world.cluster;
    const disarm = faults.add({
      match: { client: operator.client, verb: 'patch', resource: 'statefulsets' },
      action: { kind: 'error', code: 403 },
    });
    await annotateSet(world, 'a', forceAnnotation(1));
    await world.clock.runUntil(() => faults.hits.length === refusals, { maxVirtual: minutes(5) });
    operator.stepWallClock(minutes(-60));
    disarm();
    await world.clock.advance(seconds(75));
    assert.deepEqual(replicasOf(world), [1, 2]);
    await world.close();
  });
}

/** Two zones of two, one pod at a time, of an operator whose wall clock goes wrong by `skew`, until it has rolled. */
async function timeOfRollout(minReadySeconds: number, skew: Millis): Promise<number> {
  const world = await World.create({ ...small, spec: { minReadySeconds } });
  const operator = world.startOperator();
  operator.stepWallClock(skew);
  await world.clock.advance(minutes(3));
  await world.setImage(images.new);
  const from = world.clock.now();
  await world.untilRolled(images.new, minutes(120));
  const took = world.clock.now() - from;
  assert.deepEqual(deletedPods(world), [
    'ingester-zone-a-0',
    'ingester-zone-a-1',
    'ingester-zone-b-0',
    'ingester-zone-b-1',
  ]);
  await world.close();
  return took;
}

test('a clock that is a minute slower than those of the kubelets delays no rollout where minReadySeconds is 0', async () => {
  const right = await timeOfRollout(0, seconds(0));
  const slow = await timeOfRollout(0, minutes(-1));
  assert.ok(slow <= right + 1_000, `${slow} ms instead of ${right} ms`);
});

test('a clock that is an hour slow delays no rollout by more than minReadySeconds a pod', async () => {
  const right = await timeOfRollout(30, seconds(0));
  const slow = await timeOfRollout(30, minutes(-60));
  assert.ok(slow <= right + 4 * 31_000, `${slow} ms instead of ${right} ms`);
});

test('a wall clock that is set back by an hour in mid-rollout delays it by no more than a pod takes', async () => {
  const world = await World.create({ ...small, spec: { minReadySeconds: 30 } });
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(1));
  await world.setImage(images.new);
  await world.clock.advance(seconds(20));
  operator.stepWallClock(minutes(-60));
  await world.untilRolled(images.new, minutes(5));
  assert.equal(deletedPods(world).length, 4);
  await world.close();
});
