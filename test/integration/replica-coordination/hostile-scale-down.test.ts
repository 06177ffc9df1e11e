import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, millis, minutes, seconds } from '#base/units.ts';
import { forceAnnotation } from '#support/objects/scaling.ts';
import { World } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { eventsAbout, silence } from '../stages/hostile-stage.ts';
import { annotateSet, follow, replicasOf } from '../stages/scaling-stage.ts';

/** What the judge of `world` found. */
function violationsOf(world: World): readonly string[] {
  return world.judge().violations.map(({ id, message }) => `${id}: ${message}`);
}

/** What Events said about the set `name`. */
function messagesAbout(world: World, name: string): readonly string[] {
  return eventsAbout(world, name).map(({ message }) => message);
}

for (const lag of [seconds(3), seconds(20)] satisfies Millis[]) {
  test(`a zone that an old cache of ${lag / 1_000} s shows with a pod that was never ready is not scaled down while another is rolled [EXCL-1]`, async () => {
    const world = await World.create({ replicas: 3, maxUnavailable: '1', zones: ['a', 'b'] });
    const operator = await world.readyOperator();
    await annotateSet(world, 'b', follow('a'));
    await world.clock.advance(seconds(30));
    const match = { name: 'ingester-zone-a-0' };
    world.kubelet.behaviours.add({ behave: 'slow', by: seconds(600), match });
    await world.setImage(images.new, ['a']);
    await world.clock.advance(seconds(2));
    await annotateSet(world, 'b', forceAnnotation(4));
    await world.clock.advance(millis(1_500));
    // Its container runs, and is ready 2 s later; of that nothing is shown.
    silence(world, operator, 'pods');
    await world.clock.advance(lag);
    await annotateSet(world, 'b', forceAnnotation(undefined));
    await world.clock.advance(seconds(3));
    const [judged, replicas] = [violationsOf(world), replicasOf(world)];
    await world.close();
    assert.deepEqual(judged, []);
    assert.deepEqual(replicas, [3, 4]);
  });
}

test('a zone does not shrink by a pod that never became ready while another lacks one, says so, and then does [EXCL-1]', async () => {
  const world = await World.create({ replicas: 3, maxUnavailable: '1', zones: ['a', 'b'] });
  await world.readyOperator();
  await annotateSet(world, 'b', follow('a'));
  await world.clock.advance(seconds(30));
  world.kubelet.behaviours.add({
    behave: 'imagePullBackOff',
    match: { name: 'ingester-zone-b-3' },
  });
  await annotateSet(world, 'b', forceAnnotation(4));
  await world.clock.advance(minutes(2));
  const reason =
    'ingester-zone-b does not shrink while ingester-zone-a lacks pods: ingester-zone-a-0 is not available';
  const match = { name: 'ingester-zone-a-0' };
  const slow = world.kubelet.behaviours.add({ behave: 'slow', by: minutes(5), match });
  await world.deletePod('ingester-zone-a-0');
  await world.clock.advance(seconds(2));
  await annotateSet(world, 'b', forceAnnotation(undefined));
  await world.clock.advance(minutes(2));
  const [waiting, said] = [replicasOf(world), messagesAbout(world, 'ingester-zone-b')];
  slow.remove();
  await world.clock.advance(minutes(5));
  const [judged, replicas] = [violationsOf(world), replicasOf(world)];
  await world.close();
  assert.deepEqual(waiting, [3, 4]);
  assert.ok(said.includes(reason), said.join('\n'));
  assert.deepEqual(replicas, [3, 3]);
  assert.deepEqual(judged, []);
});

test('a zone whose pods are broken, those that go and one that stays, shrinks all the same [LIVE-3]', async () => {
  const world = await World.create({ replicas: 3, maxUnavailable: '1', zones: ['a', 'b'] });
  await world.readyOperator();
  await annotateSet(world, 'b', follow('a'));
  await world.clock.advance(seconds(30));
  for (const name of ['ingester-zone-b-0', 'ingester-zone-b-3', 'ingester-zone-b-4']) {
    world.kubelet.behaviours.add({ behave: 'crashLoop', match: { name } });
  }
  await world.deletePod('ingester-zone-b-0');
  await annotateSet(world, 'b', forceAnnotation(5));
  await world.clock.advance(minutes(3));
  await annotateSet(world, 'b', forceAnnotation(undefined));
  await world.clock.advance(minutes(1));
  const [judged, replicas] = [violationsOf(world), replicasOf(world)];
  await world.close();
  assert.deepEqual(replicas, [3, 3]);
  assert.deepEqual(judged, []);
});

for (const behave of ['imagePullBackOff', 'crashLoop'] as const) {
  test(`two zones that were to grow by pods that never became ready (${behave}) both shrink again, and do not wait for each other [LIVE-3]`, async () => {
    const world = await World.create({ replicas: 3, maxUnavailable: '1' });
    await world.readyOperator();
    for (const zone of ['b', 'c']) await annotateSet(world, zone, follow('a'));
    await world.clock.advance(seconds(30));
    for (const name of ['ingester-zone-b-3', 'ingester-zone-c-3']) {
      world.kubelet.behaviours.add({ behave, match: { name } });
    }
    for (const zone of ['b', 'c']) await annotateSet(world, zone, forceAnnotation(4));
    await world.clock.advance(seconds(40));
    for (const zone of ['b', 'c']) await annotateSet(world, zone, forceAnnotation(undefined));
    await world.clock.advance(minutes(3));
    const [judged, replicas] = [violationsOf(world), replicasOf(world)];
    await world.close();
    assert.deepEqual(replicas, [3, 3, 3]);
    assert.deepEqual(judged, []);
  });
}
