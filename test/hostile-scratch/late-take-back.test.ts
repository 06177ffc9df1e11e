/** A take-back of a reservation that arrives late, when the pod is wanted again and on its way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, millis, minutes, seconds } from '#base/units.ts';
import { images } from '#testing/world-group.ts';
import { budgetedWorld, givenAway, makeBudget } from '../integration/budget-stage.ts';
import { deletedPods } from '../integration/rollout-stage.ts';
import { replica } from './second-replica.ts';

const group = { replicas: 3, maxUnavailable: '1' } as const;

for (const [lateBy, forwardAt] of [[7, 5.5], [7, 6.5], [4, 3.5]] as const) {
test(`EXCL: a take-back that arrives ${lateBy} s late frees nothing of a pod that is wanted again at ${forwardAt} s`, async () => {
  const world = await budgetedWorld(group);
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(3));
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  const two = await replica(world, 'replica-2');
  const { client } = operator;
  // Reserved, and never sent: the write of the reservation is answered late, and the rollout is taken back meanwhile.
  world.cluster.faults.add({
    match: { client, verb: 'update', resource: 'configmaps' },
    action: { kind: 'delay', delay: seconds(2), when: 'after' },
    count: 1,
  });
  // The DELETE that follows takes a minute.
  world.cluster.faults.add({
    match: { client, verb: 'delete', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(40) },
    count: 1,
  });
  await world.setImage(images.new);
  await world.clock.advance(seconds(1));
  await world.setImage(images.old);
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  // The take-back arrives late.
  let sentAt: number | undefined;
  world.cluster.faults.add({
    match: { client, verb: 'update', resource: 'configmaps' },
    action: {
      kind: 'delay',
      get delay(): Millis {
        sentAt ??= world.clock.now();
        return seconds(lateBy);
      },
    },
    count: 1,
  });
  await world.clock.runUntil(() => sentAt !== undefined, { maxVirtual: minutes(2) });
  await world.clock.advance(seconds(forwardAt));
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  await world.setImage(images.new);
  await world.clock.advance(seconds(lateBy - forwardAt + 0.5));
  assert.deepEqual(deletedPods(world), []);
  const sent = world.cluster.faults.hits.some(({ verb }) => verb === 'delete');
  const left = givenAway(world);
  const other = await world.run(two.evict('ingester-zone-b-0'));
  await two.stop();
  await world.close();
  // Whether or not the pod was taken again meanwhile.
  if (!sent) return;
  assert.match(other, /^denied/);
  assert.deepEqual(left, ['ingester-zone-a-0']);
});
}
