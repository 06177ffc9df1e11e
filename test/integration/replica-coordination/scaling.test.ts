import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { type Instant, minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { numberAt } from '#support/objects/json-path.ts';
import { delayAnnotations, mirrorAnnotations } from '#support/objects/scaling.ts';
import { World } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';
import {
  assertAtRest,
  assertKept,
  eventReasons,
  small,
  writesOf,
} from '../stages/rollout-stage.ts';
import {
  annotateSet,
  autoscale,
  autoscaleSet,
  createTemplate,
  follow,
  replicasOf,
  reportedBy,
  untilScaled,
} from '../stages/scaling-stage.ts';

test('[scenario 44] two followers go down and up with a leader that an autoscaler scales', async () => {
  const world = await World.create();
  for (const zone of ['b', 'c']) await annotateSet(world, zone, follow('a'));
  await world.readyOperator();
  await autoscaleSet(world, 'a', 1);
  await untilScaled(world, [1, 1, 1]);
  await autoscaleSet(world, 'a', 4);
  await untilScaled(world, [4, 4, 4]);
  const scaled = writesOf(world).filter((write) => write.startsWith('patch statefulsets.apps'));
  assert.deepEqual(scaled, [
    'patch statefulsets.apps ingester-zone-b',
    'patch statefulsets.apps ingester-zone-c',
    'patch statefulsets.apps ingester-zone-b',
    'patch statefulsets.apps ingester-zone-c',
  ]);
  assert.ok(eventReasons(world, 'ingester-zone-c').includes('ScaledToLeader'));
  await assertAtRest(world);
  await world.close();
});

test('[scenario 51] three sets mirror a ReplicaTemplate down and up, and report to it', async () => {
  const world = await World.create();
  await createTemplate(world, 'ingester', 3);
  for (const zone of world.zones) await annotateSet(world, zone, mirrorAnnotations('ingester'));
  await world.readyOperator();
  const target = { type: resourceTypes.replicaTemplates, name: 'ingester' };
  await world.clock.advance(seconds(10));
  assert.equal(reportedBy(world, 'ingester'), 3);
  await autoscale(world, target, 5);
  await untilScaled(world, [5, 5, 5]);
  await autoscale(world, target, 2);
  await untilScaled(world, [2, 2, 2]);
  await world.clock.advance(seconds(10));
  assert.equal(reportedBy(world, 'ingester'), 2);
  await assertAtRest(world);
  await world.close();
});

test('a change of a mirrored resource is acted on at the same instant (KW-15)', async () => {
  const world = await World.create({ zones: ['a'], flags: ['-reconcile.interval=0'] });
  await createTemplate(world, 'ingester', 3);
  await annotateSet(world, 'a', mirrorAnnotations('ingester'));
  await world.readyOperator();
  await world.clock.advance(seconds(30));
  const before = world.clock.now();
  await autoscale(world, { type: resourceTypes.replicaTemplates, name: 'ingester' }, 4);
  await world.clock.runUntil(() => replicasOf(world)[0] === 4);
  assert.ok(world.clock.now() - before < 100, `${world.clock.now() - before} ms`);
  await world.close();
});

test('[scenario 42] a rollout and a scale-down of one group never take pods of two zones at once [EXCL-1]', async () => {
  const world = await World.create();
  for (const zone of ['b', 'c']) await annotateSet(world, zone, follow('a'));
  await world.readyOperator();
  await world.setImage(images.new);
  await world.clock.advance(seconds(7));
  await autoscaleSet(world, 'a', 2);
  await world.untilRolled(images.new);
  await untilScaled(world, [2, 2, 2]);
  await assertAtRest(world);
  await world.close();
});

test('an autoscaler that fights over a follower is written against ever more rarely, and named', async () => {
  const world = await World.create(small);
  await annotateSet(world, 'b', follow('a'));
  await world.readyOperator();
  for (let turn = 0; turn < 20; turn += 1) {
    await autoscaleSet(world, 'b', 4);
    await world.clock.advance(seconds(6));
  }
  const writes = writesOf(world).filter(
    (write) => write === 'patch statefulsets.apps ingester-zone-b',
  );
  assert.ok(writes.length <= 8, `${writes.length} writes`);
  assert.ok(eventReasons(world, 'ingester-zone-b').includes('ReplicasContested'));
  await world.clock.advance(minutes(10));
  assert.deepEqual(replicasOf(world), [2, 2]);
  assertKept(world);
  await world.close();
});

test('an operator that is killed while it scales leaves nothing half done', async () => {
  const world = await World.create();
  for (const zone of ['b', 'c']) await annotateSet(world, zone, follow('a'));
  const first = await world.readyOperator();
  await autoscaleSet(world, 'a', 1);
  await world.clock.advance(seconds(1));
  first.kill();
  await world.clock.advance(seconds(20));
  await world.readyOperator();
  await untilScaled(world, [1, 1, 1]);
  await assertAtRest(world);
  await world.close();
});

/** Three zones of three that mirror a ReplicaTemplate, and ask their pods an hour before they go. */
async function delayedWorld(): Promise<World> {
  const world = await World.create();
  await createTemplate(world, 'ingester', 3);
  for (const zone of world.zones)
    await annotateSet(world, zone, { ...mirrorAnnotations('ingester'), ...delayAnnotations('1h') });
  return world;
}

const ingester = { type: resourceTypes.replicaTemplates, name: 'ingester' };

/** Asserts that each pod that went had been prepared for an hour by then; pods tell the time in whole seconds. */
function assertDelayed(world: World, asked: Instant): void {
  for (const { at, resource, before, after, user } of world.cluster.eventLog.commits) {
    if (resource !== 'statefulsets.apps' || user !== OPERATOR_USER) continue;
    const count = (object: JsonObject | undefined): number =>
      numberAt(object ?? {}, 'spec', 'replicas') ?? 0;
    if (count(after) < count(before)) assert.ok(at - asked > 3_599_000, `after ${at - asked} ms`);
  }
}

test('[scenario 59, 65] three zones shrink an hour after their pods were asked, one after the other', async () => {
  const world = await delayedWorld();
  await world.readyOperator();
  await autoscale(world, ingester, 1);
  const asked = world.clock.now();
  await world.clock.advance(minutes(59));
  assert.deepEqual(replicasOf(world), [3, 3, 3]);
  assert.equal(reportedBy(world, 'ingester'), 3);
  await untilScaled(world, [1, 1, 1]);
  assertDelayed(world, asked);
  assert.equal(reportedBy(world, 'ingester'), 1);
  await assertAtRest(world);
  await world.close();
});

test('[scenario 62, 64] pods that answer wrongly or never hold themselves and those below them, and no other zone', async () => {
  const world = await delayedWorld();
  world.fleet.behave({ kind: 'never' }, 'ingester-zone-a-2');
  world.fleet.behave({ kind: 'answer', status: 500 }, 'ingester-zone-b-1');
  world.fleet.behave(
    { kind: 'late', after: seconds(4), behaves: { kind: 'application' } },
    'ingester-zone-c-1',
  );
  await world.readyOperator();
  await autoscale(world, ingester, 1);
  const asked = world.clock.now();
  await world.clock.runUntil(() => replicasOf(world).join() === '3,2,1', {
    maxVirtual: minutes(90),
  });
  await world.clock.advance(minutes(30));
  assert.deepEqual(replicasOf(world), [3, 2, 1]);
  assert.ok(eventReasons(world, 'ingester-zone-a').includes('PodNotPrepared'));
  assertDelayed(world, asked);
  world.fleet.behave({ kind: 'application' }, 'ingester-zone-a-2');
  world.fleet.behave({ kind: 'application' }, 'ingester-zone-b-1');
  await world.clock.runUntil(() => replicasOf(world).join() === '1,1,1', {
    maxVirtual: minutes(90),
  });
  assertKept(world);
  await world.close();
});

test('[scenario 66, 67] a count that returns is cancelled once, and then pods hear nothing [QUIE-1]', async () => {
  const world = await delayedWorld();
  await world.readyOperator();
  await autoscale(world, ingester, 2);
  await world.clock.advance(minutes(30));
  await autoscale(world, ingester, 3);
  await world.clock.advance(minutes(2));
  for (const zone of world.zones) {
    assert.equal(world.fleet.preparedSince(`ingester-zone-${zone}-2`), undefined);
  }
  const calls = world.fleet.calls.length;
  await world.clock.advance(minutes(90));
  assert.equal(world.fleet.calls.length, calls);
  assert.deepEqual(replicasOf(world), [3, 3, 3]);
  await assertAtRest(world);
  await world.close();
});

test('an operator that is killed while pods are asked changes nothing: the pods remember', async () => {
  const world = await delayedWorld();
  let operator = await world.readyOperator();
  await autoscale(world, ingester, 1);
  const asked = world.clock.now();
  for (let turn = 0; turn < 5; turn += 1) {
    await world.clock.advance(minutes(11));
    operator.kill();
    await world.clock.advance(seconds(30));
    operator = await world.readyOperator();
  }
  await untilScaled(world, [1, 1, 1]);
  assert.ok(world.clock.now() - asked < minutes(70));
  assertDelayed(world, asked);
  await assertAtRest(world);
  await world.close();
});

test('pods that a write without an answer may still take stay prepared until it is settled (D-7) [SCAL-1]', async () => {
  const world = await delayedWorld();
  const operator = await world.readyOperator();
  await autoscale(world, ingester, 2);
  await world.clock.advance(minutes(59));
  const match = { client: operator.client, verb: 'patch', resource: 'statefulsets' };
  const release = world.cluster.faults.add({ match, action: { kind: 'drop', when: 'before' } });
  const { faults } = world.cluster;
  await world.clock.runUntil(() => faults.hits.length > 0, { maxVirtual: minutes(5) });
  await autoscale(world, ingester, 3);
  release();
  const pod = 'ingester-zone-a-2';
  await world.clock.advance(seconds(110));
  assert.notEqual(world.fleet.preparedSince(pod), undefined);
  await world.clock.advance(seconds(20));
  assert.equal(world.fleet.preparedSince(pod), undefined);
  assert.deepEqual(replicasOf(world), [3, 3, 3]);
  await assertAtRest(world);
  await world.close();
});
