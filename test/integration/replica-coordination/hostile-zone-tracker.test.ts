import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images, NAMESPACE, setName } from '#support/world/world-group.ts';
import { callsWithin } from '../stages/hostile-stage.ts';
import { deletedPods } from '../stages/rollout-stage.ts';
import { annotateSet, autoscaleSet, follow } from '../stages/scaling-stage.ts';

const group: WorldOptions = { replicas: 3, maxUnavailable: '1' };

test('a rollout goes on although the ConfigMap of the zone tracker, which only a down-scale needs, takes 12 s to be read [SC-3]', async () => {
  const world = await World.create({ ...group, flags: ['-use-zone-tracker'] });
  const operator = await world.readyOperator();
  await annotateSet(world, 'c', follow('b'));
  const labels = { 'grafana.com/min-time-between-zones-downscale': '1h' };
  await world.patchSet('c', { metadata: { labels } });
  await world.clock.advance(seconds(30));
  world.cluster.faults.add({
    match: { client: operator.client, verb: 'get', resource: 'configmaps' },
    action: { kind: 'delay', delay: seconds(12) },
  });
  await autoscaleSet(world, 'b', 2);
  await world.clock.advance(minutes(1));
  await world.setImage(images.new, ['a']);
  await world.clock.advance(minutes(30));
  const deleted = deletedPods(world);
  await world.close();
  assert.deepEqual(
    deleted,
    [0, 1, 2].map((ordinal) => `${setName('a')}-${ordinal}`),
  );
});

/** Has another program change a pod of the group five times a second, each of which wakes the group. */
function disturb(world: World): () => void {
  const state = { isOver: false, turn: 0 };
  const touch = (): void => {
    if (state.isOver) return;
    state.turn += 1;
    const document = { metadata: { annotations: { note: `turn ${state.turn}` } } };
    const key = { namespace: NAMESPACE, name: `${setName('a')}-0` };
    void world.admin.patch(resourceTypes.pods, key, { body: { kind: 'merge', document } });
    world.clock.timer(millis(200), touch);
  };
  touch();
  return () => {
    state.isOver = true;
  };
}

test('a ConfigMap of the zone tracker that cannot be read is asked for at most 20 times a minute, however often pods change', async () => {
  const world = await World.create({ ...group, flags: ['-use-zone-tracker'] });
  const operator = await world.readyOperator();
  await annotateSet(world, 'c', follow('b'));
  const labels = { 'grafana.com/min-time-between-zones-downscale': '1h' };
  await world.patchSet('c', { metadata: { labels } });
  await world.clock.advance(seconds(30));
  world.cluster.faults.add({
    match: { client: operator.client, verb: 'get', resource: 'configmaps' },
    action: { kind: 'error', code: 500 },
  });
  const calm = disturb(world);
  await autoscaleSet(world, 'b', 2);
  await world.clock.advance(minutes(1));
  const from = world.clock.now();
  await world.clock.advance(minutes(1));
  const calls = callsWithin(world, ['get', 'configmaps'], [from, minutes(1)]);
  calm();
  await world.close();
  assert.ok(calls > 0 && calls <= 20, `${calls} in the second minute`);
});
