import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { forceAnnotation, mirrorAnnotations } from '#support/objects/scaling.ts';
import { World } from '#support/world/world.ts';
import { images, NAMESPACE } from '#support/world/world-group.ts';
import { deletionsSince, silence } from '../stages/hostile-stage.ts';
import { annotateSet, createTemplate, follow, replicasOf } from '../stages/scaling-stage.ts';

function ofIngester(world: World, from: number): readonly string[] {
  return deletionsSince(world, from)
    .map(({ pod }) => pod)
    .filter((pod) => pod.startsWith('ingester-'));
}

test('no pod goes on a view that is older than a read of a scale which took 29 s, while another group keeps proofs young', async () => {
  const world = await World.create({ replicas: 3, maxUnavailable: '1' });
  await world.addGroup('store-gateway', { replicas: 20, maxUnavailable: '1' });
  await createTemplate(world, 'ingester', 3);
  await annotateSet(world, 'a', mirrorAnnotations('ingester'));
  await world.readyOperator();
  await world.clock.advance(seconds(30));
  await world.setImageOf('store-gateway', images.new);
  await world.clock.advance(seconds(11));
  const disarm = world.cluster.faults.add({
    match: { client: 'operator-1', verb: 'get', subresource: 'scale' },
    action: { kind: 'delay', delay: seconds(29), when: 'after' },
  });
  await touchTemplate(world, 'first');
  await world.clock.advance(seconds(25));
  await touchTemplate(world, 'second');
  await world.setImage(images.new);
  await world.clock.advance(seconds(6));
  world.kubelet.behaviours.add({
    behave: 'slow',
    by: minutes(2),
    match: { name: 'ingester-zone-c-0' },
  });
  const before = ofIngester(world, 0);
  await world.deletePod('ingester-zone-c-0');
  await world.clock.advance(minutes(2));
  assert.deepEqual(ofIngester(world, 0).slice(before.length), []);
  disarm();
  world.kubelet.behaviours.clear();
  await world.untilRolled(images.new);
  await world.close();
});

async function touchTemplate(world: World, note: string): Promise<void> {
  const document = { metadata: { annotations: { note } } };
  const key = { namespace: NAMESPACE, name: 'ingester' };
  const body = { kind: 'merge', document } as const;
  await world.run(world.admin.patch(resourceTypes.replicaTemplates, key, { body }));
}

const threeZones = { replicas: 3, maxUnavailable: '1' } as const;

test('no rollout begins on a cache that does not show that a pod of another zone was lost', async () => {
  const world = await World.create(threeZones);
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(1));
  world.kubelet.behaviours.add({
    behave: 'slow',
    by: minutes(10),
    match: { name: 'ingester-zone-c-0' },
  });
  const speak = silence(world, operator, 'pods');
  await world.deletePod('ingester-zone-c-0');
  const from = world.clock.now();
  await world.setImage(images.new, ['a']);
  await world.clock.advance(minutes(1));
  assert.deepEqual(ofIngester(world, from), []);
  speak();
  world.kubelet.behaviours.clear();
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  await world.close();
});

test('a pod that was sent away counts before the watch shows that it goes', async () => {
  const world = await World.create({ ...threeZones, maxUnavailable: '2' });
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(1));
  const speak = silence(world, operator, 'pods');
  const from = world.clock.now();
  await world.setImage(images.new, ['a']);
  await world.clock.advance(seconds(5));
  assert.deepEqual(ofIngester(world, from), ['ingester-zone-a-0', 'ingester-zone-a-1']);
  speak();
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  await world.close();
});

/** Requests that are given up after 5 s reach the API server, and are carried out a minute after they were sent. */
const late = { kind: 'delay', delay: seconds(60) } as const;
const flags = ['-kubernetes.client-timeout=5s'];

test('a deletion without an answer stays open although the cache shows an older pod than the one that it named', async () => {
  const world = await World.create({ replicas: 2, maxUnavailable: '1', zones: ['a', 'b'], flags });
  const operator = await world.readyOperator();
  await world.clock.advance(seconds(30));
  world.kubelet.behaviours.add({
    behave: 'slow',
    by: minutes(4),
    match: { name: 'ingester-zone-b-*' },
  });
  const speak = silence(world, operator, 'pods');
  await touchPod(world, 'ingester-zone-a-0');
  world.cluster.faults.add({
    match: { client: operator.client, verb: 'delete', resource: 'pods', name: 'ingester-zone-a-0' },
    action: late,
  });
  await world.setImage(images.new, ['a']);
  await world.clock.runUntil(() => world.cluster.faults.hits.some(isDeletion), {
    maxVirtual: minutes(1),
  });
  const sentAt = world.clock.now();
  await world.clock.advance(seconds(6));
  await world.setImage(images.old, ['a']);
  await world.setImage(images.new, ['b']);
  await world.clock.advance(seconds(55));
  const taken = deletionsSince(world, sentAt).filter(({ image }) => image !== undefined);
  assert.deepEqual(
    taken.map(({ pod }) => pod),
    ['ingester-zone-a-0'],
  );
  speak();
  world.cluster.faults.clear();
  world.kubelet.behaviours.clear();
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  await world.close();
});

function isDeletion({ verb }: { readonly verb: string }): boolean {
  return verb === 'delete';
}

async function touchPod(world: World, name: string): Promise<void> {
  const document = { metadata: { annotations: { note: 'touched by a person' } } };
  const body = { kind: 'merge', document } as const;
  await world.run(world.admin.patch(resourceTypes.pods, { namespace: NAMESPACE, name }, { body }));
}

test('a scale-down without an answer stays open although the cache shows an older count than the one that it named', async () => {
  const world = await World.create({ replicas: 3, maxUnavailable: '1', zones: ['a', 'b'], flags });
  const operator = await world.readyOperator();
  const { faults } = world.cluster;
  await annotateSet(world, 'b', follow('a'));
  await world.clock.advance(seconds(30));
  const slow = world.kubelet.behaviours.add({
    behave: 'slow',
    by: seconds(15),
    match: { name: 'ingester-zone-a-0' },
  });
  await world.setImage(images.new, ['a']);
  await world.clock.advance(seconds(1));
  await annotateSet(world, 'b', forceAnnotation(1));
  faults.add({
    match: { client: operator.client, verb: ['list', 'get'], resource: 'statefulsets' },
    count: 1,
    action: { kind: 'delay', delay: seconds(1) },
  });
  await world.clock.runUntil(() => faults.hits.length === 1, { maxVirtual: minutes(1) });
  const speak = silence(world, operator, 'statefulsets.apps');
  await world.patchSet('b', { spec: { replicas: 4 } });
  const scaled = { client: operator.client, verb: 'patch', resource: 'statefulsets' };
  faults.add({ match: scaled, action: late });
  await world.clock.runUntil(() => faults.hits.some(({ verb }) => verb === 'patch'), {
    maxVirtual: minutes(1),
  });
  const sentAt = world.clock.now();
  slow.remove();
  await world.clock.advance(seconds(59));
  assert.deepEqual(replicasOf(world), [3, 4]);
  assert.deepEqual(ofIngester(world, sentAt), []);
  await world.clock.advance(seconds(2));
  assert.deepEqual(replicasOf(world), [3, 1]);
  speak();
  faults.clear();
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  await world.close();
});
