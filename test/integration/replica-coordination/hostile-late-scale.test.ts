import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { followAnnotations, forceAnnotation } from '#support/objects/scaling.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images, NAMESPACE, setName } from '#support/world/world-group.ts';
import { annotateSet, follow } from '../stages/scaling-stage.ts';

const group: WorldOptions = {
  replicas: 3,
  maxUnavailable: '1',
  zones: ['a', 'b'],
  flags: ['-kubernetes.client-qps=1', '-kubernetes.client-burst=1'],
};
const single = { replicas: 1, maxUnavailable: '1' };
const others = [0, 1, 2, 3, 4, 5, 6].map((index) => `g${index}`);

/** Annotates a set of another group, as a person does, and does not wait for it. */
async function annotate(
  world: World,
  [zone, other]: readonly [string, string],
  annotations: object,
): Promise<void> {
  const key = { namespace: NAMESPACE, name: setName(zone, other) };
  const document = { metadata: { annotations: { ...annotations } } };
  await world.admin.patch(resourceTypes.statefulSets, key, {
    body: { kind: 'strategic', document },
  });
}

test('a down-scale that waited for the rate limiter and lands 118 s after it was sent finds no pod of another zone taken away [EXCL-1]', async () => {
  const world = await World.create(group);
  for (const other of others) {
    await world.addGroup(other, single);
    await world.run(annotate(world, ['a', other], followAnnotations(setName('b', other))));
    await world.run(annotate(world, ['b', other], followAnnotations(setName('a', other))));
  }
  const operator = await world.readyOperator();
  await annotateSet(world, 'b', follow('a'));
  await world.addGroup('spark', single);
  await world.clock.advance(minutes(2));
  // Proves the caches, so that the down-scale needs no list; then writes of other groups queue before it.
  await world.setImageOf('spark', images.new);
  await world.clock.advance(millis(800));
  world.cluster.faults.add({
    match: {
      client: operator.client,
      verb: 'patch',
      resource: 'statefulsets',
      name: setName('b'),
    },
    count: 1,
    action: { kind: 'delay', delay: seconds(118) },
  });
  for (const other of others) void annotate(world, ['a', other], forceAnnotation(2));
  await world.clock.advance(millis(100));
  await annotateSet(world, 'b', forceAnnotation(2));
  await world.clock.advance(seconds(15));
  // The down-scale is taken back, and the other zone is to be rolled: it must wait until the request is over.
  await annotateSet(world, 'b', forceAnnotation(undefined));
  const match = { name: 'ingester-zone-a-*' };
  world.kubelet.behaviours.add({ behave: 'slow', by: minutes(1), match });
  await world.setImage(images.new, ['a']);
  await world.clock.advance(minutes(4));
  const broken = world.judge().violations.filter(({ id }) => id === 'EXCL-1');
  assert.deepEqual(broken, []);
  await world.close();
});
