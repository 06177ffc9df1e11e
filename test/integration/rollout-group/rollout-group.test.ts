import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { World } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import {
  assertAtRest,
  assertKept,
  blockedBy,
  deletedPods,
  eventReasons,
  series,
  small,
  untilBlockedBy,
  writesOf,
} from '../stages/rollout-stage.ts';

test('[scenario 7] a rollout goes zone by zone, two pods at a time, lowest ordinal first', async () => {
  const world = await World.create();
  const operator = await world.readyOperator();
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  const zone = (name: string): readonly string[] =>
    [0, 1, 2].map((ordinal) => `ingester-zone-${name}-${ordinal}`);
  assert.deepEqual(deletedPods(world), [...zone('a'), ...zone('b'), ...zone('c')]);
  await assertAtRest(world, { effort: { perSet: 2 } });
  const [said] = [eventReasons(world, 'ingester-zone-b')];
  for (const reason of ['ZoneOrder', 'PodOutdated', 'MaxUnavailableReached', 'ZoneUpdated']) {
    assert.ok(said.includes(reason), `${reason} is not among ${said.join(', ')}`);
  }
  assert.equal(await blockedBy(world, operator), undefined);
  await world.close();
});

test('[scenario 26] a rollback in the middle takes away only pods on the new revision', async () => {
  const world = await World.create();
  await world.readyOperator();
  await world.setImage(images.new);
  await world.clock.advance(seconds(5));
  const before = deletedPods(world).length;
  await world.setImage(images.old);
  await world.untilRolled(images.old);
  const after = deletedPods(world).slice(before);
  assert.ok(after.length > 0);
  assert.ok(after.every((name) => name.startsWith('ingester-zone-a-')));
  await assertAtRest(world);
  await world.close();
});

test('LIVE-3 a broken image blocks its zone with a true reason, and a corrected one goes through', async () => {
  const world = await World.create(small);
  const operator = await world.readyOperator();
  world.kubelet.behaviours.add({ behave: 'imagePullBackOff', match: { image: images.new } });
  await world.setImage(images.new);
  await untilBlockedBy(world, 'MaxUnavailableReached');
  await world.clock.advance(minutes(5));
  assert.equal(await blockedBy(world, operator), 'MaxUnavailableReached');
  assert.deepEqual(deletedPods(world), ['ingester-zone-a-0']);
  await world.setImage(images.next);
  await world.untilRolled(images.next);
  await assertAtRest(world);
  await world.close();
});

test('[scenario 38] pods in a crash loop are replaced once the template is corrected', async () => {
  const world = await World.create(small);
  await world.readyOperator();
  world.kubelet.behaviours.add({ behave: 'crashLoop', match: { image: images.new } });
  await world.setImage(images.new);
  await world.clock.advance(minutes(5));
  assert.deepEqual(deletedPods(world), ['ingester-zone-a-0']);
  await world.setImage(images.old);
  await world.untilRolled(images.old);
  assert.deepEqual(deletedPods(world), ['ingester-zone-a-0', 'ingester-zone-a-0']);
  await assertAtRest(world);
  await world.close();
});

test('no pod is deleted while all readiness probes fail for a minute in the middle of a rollout (D-48)', async () => {
  const world = await World.create(small);
  const operator = await world.readyOperator();
  await world.setImage(images.new);
  await world.clock.advance(seconds(4));
  const before = deletedPods(world).length;
  assert.ok(before > 0 && before < 4, `${before} pods were deleted`);
  const probes = world.kubelet.behaviours.add({ behave: 'neverReady', match: {} });
  await world.clock.advance(seconds(2));
  const during = deletedPods(world).length;
  await world.clock.advance(seconds(58));
  assert.equal(deletedPods(world).length, during);
  assert.equal(await blockedBy(world, operator), 'MultipleZonesUnavailable');
  probes.remove();
  await world.untilRolled(images.new);
  assert.equal(deletedPods(world).length, 4);
  await world.close();
});

test('LIVE-3 a pod that runs and is never ready is replaced by the corrected template after 30 minutes (D-48)', async () => {
  const world = await World.create(small);
  await world.readyOperator();
  world.kubelet.behaviours.add({ behave: 'neverReady', match: { image: images.new } });
  await world.setImage(images.new);
  await world.clock.advance(minutes(1));
  await world.setImage(images.next);
  await world.clock.advance(minutes(28));
  assert.deepEqual(deletedPods(world), ['ingester-zone-a-0']);
  await world.clock.advance(minutes(2));
  assert.deepEqual(deletedPods(world).slice(0, 2), ['ingester-zone-a-0', 'ingester-zone-a-0']);
  await world.untilRolled(images.next);
  await assertAtRest(world);
  await world.close();
});

test('a process that has just begun waits the 30 minutes anew, as it has not seen the pod before (D-48)', async () => {
  const world = await World.create(small);
  const first = await world.readyOperator();
  world.kubelet.behaviours.add({ behave: 'neverReady', match: { image: images.new } });
  await world.setImage(images.new);
  await world.clock.advance(minutes(1));
  await world.setImage(images.next);
  await world.clock.advance(minutes(20));
  await world.run(first.stop());
  await world.readyOperator();
  await world.clock.advance(minutes(29));
  assert.deepEqual(deletedPods(world), ['ingester-zone-a-0']);
  await world.clock.advance(minutes(2));
  await world.untilRolled(images.next);
  await assertAtRest(world);
  await world.close();
});

test('[scenario 33] a paused zone is left alone while the others roll, and rolls when it is released', async () => {
  const world = await World.create(small);
  const operator = await world.readyOperator();
  const pause = (value: 'true' | null): Promise<void> =>
    world.patchSet('a', { metadata: { annotations: { 'grafana.com/rollout-paused': value } } });
  await pause('true');
  await world.setImage(images.new);
  await world.clock.advance(minutes(2));
  assert.deepEqual(deletedPods(world), ['ingester-zone-b-0', 'ingester-zone-b-1']);
  assert.equal(await blockedBy(world, operator), 'Paused');
  assert.ok(eventReasons(world, 'ingester-zone-a').includes('Paused'));
  await pause(null);
  await world.untilRolled(images.new);
  await assertAtRest(world);
  await world.close();
});

test('[scenario 14] a percentage of four pods is two at a time', async () => {
  const world = await World.create({ zones: ['a'], replicas: 4, maxUnavailable: '50%' });
  await world.readyOperator();
  await world.setImage(images.new);
  await world.clock.quiesce();
  assert.deepEqual(deletedPods(world), ['ingester-zone-a-0', 'ingester-zone-a-1']);
  await world.untilRolled(images.new);
  await assertAtRest(world);
  await world.close();
});

test('sets with OrderedReady roll like the others', async () => {
  const world = await World.create({ replicas: 2, spec: { podManagementPolicy: 'OrderedReady' } });
  await world.readyOperator();
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  assert.equal(deletedPods(world).length, 6);
  await assertAtRest(world);
  await world.close();
});

test('minReadySeconds pass before the next pod goes, and the gauge says so', async () => {
  const world = await World.create({ ...small, spec: { minReadySeconds: 30 } });
  await world.clock.advance(seconds(60));
  const operator = await world.readyOperator();
  await world.setImage(images.new);
  await world.clock.advance(seconds(20));
  assert.equal(deletedPods(world).length, 1);
  assert.equal(await blockedBy(world, operator), 'MaxUnavailableReached');
  await world.clock.advance(seconds(20));
  assert.equal(deletedPods(world).length, 2);
  await world.untilRolled(images.new);
  await world.clock.advance(seconds(40));
  await assertAtRest(world);
  await world.close();
});

test('a set that is scaled up in the middle gets its new pod before the rollout goes on', async () => {
  const world = await World.create(small);
  await world.readyOperator();
  await world.setImage(images.new);
  await world.clock.advance(seconds(4));
  await world.patchSet('b', { spec: { replicas: 3 } });
  await world.untilRolled(images.new);
  assert.ok(deletedPods(world).length <= 5);
  await assertAtRest(world);
  await world.close();
});

test('a pod that a person deletes in another zone stops the rollout until it is back', async () => {
  const world = await World.create({ ...small, replicas: 3 });
  const operator = await world.readyOperator();
  world.kubelet.behaviours.add({
    behave: 'slow',
    by: seconds(60),
    match: { name: 'ingester-zone-b-*' },
  });
  await world.setImage(images.new);
  await world.clock.advance(seconds(1));
  await world.deletePod('ingester-zone-b-1');
  await world.clock.advance(seconds(30));
  assert.deepEqual(deletedPods(world), ['ingester-zone-a-0']);
  assert.equal(await blockedBy(world, operator), 'MaxUnavailableReached');
  world.kubelet.behaviours.clear();
  await world.untilRolled(images.new);
  assert.equal(deletedPods(world).length, 5);
  await assertAtRest(world);
  await world.close();
});

test('a node that fails holds the rollout, and its return lets it go on', async () => {
  const world = await World.create({ ...small, zones: ['a', 'b', 'c'] });
  const operator = await world.readyOperator();
  world.kubelet.nodeDown('node-0');
  await world.clock.advance(seconds(60));
  await world.setImage(images.new);
  await world.clock.advance(minutes(2));
  const reason = await blockedBy(world, operator);
  assert.ok(
    reason === 'ZoneNotReady' || reason === 'MultipleZonesUnavailable',
    `blocked by ${reason}`,
  );
  await world.run(world.kubelet.nodeUp('node-0'));
  await world.untilRolled(images.new);
  await assertAtRest(world);
  await world.close();
});

test('two groups roll at the same time, each one zone after the other', async () => {
  const world = await World.create(small);
  await world.addGroup('store-gateway');
  await world.readyOperator();
  await world.setImage(images.new);
  await world.setImageOf('store-gateway', images.new);
  await world.clock.quiesce();
  assert.deepEqual(deletedPods(world), ['ingester-zone-a-0', 'store-gateway-zone-a-0']);
  await world.clock.runUntil(
    () => world.isComplete(images.new) && world.isComplete(images.new, 'store-gateway'),
    { maxVirtual: minutes(10) },
  );
  await assertAtRest(world);
  await world.close();
});

test('[scenario 1] a set with RollingUpdate fails its group by name, and nothing is written', async () => {
  const world = await World.create(small);
  await world.patchSet('b', {
    spec: { updateStrategy: { $patch: 'replace', type: 'RollingUpdate' } },
  });
  const operator = await world.readyOperator();
  await world.setImage(images.new, ['a']);
  await world.clock.advance(minutes(2));
  assert.deepEqual(writesOf(world), []);
  assert.equal(await blockedBy(world, operator), 'WrongUpdateStrategy');
  assert.ok(eventReasons(world, 'ingester-zone-b').includes('WrongUpdateStrategy'));
  assertKept(world);
  await world.close();
});

test('[scenario 2] a group with a wrong strategy fails alone', async () => {
  const world = await World.create(small);
  await world.addGroup('store-gateway');
  await world.patchSet('b', {
    spec: { updateStrategy: { $patch: 'replace', type: 'RollingUpdate' } },
  });
  const operator = await world.readyOperator();
  await world.setImageOf('store-gateway', images.new);
  await world.clock.runUntil(() => world.isComplete(images.new, 'store-gateway'), {
    maxVirtual: minutes(5),
  });
  const failed = await series(world, operator, 'rollout_operator_group_reconciles_failed_total');
  assert.ok(failed.includes('{rollout_group="store-gateway"} 0'), failed.join());
  assert.ok(!failed.includes('{rollout_group="ingester"} 0'), failed.join());
  assert.ok(deletedPods(world).every((name) => name.startsWith('store-gateway-')));
  assertKept(world);
  await world.close();
});
