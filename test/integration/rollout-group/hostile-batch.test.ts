import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { deletionsSince } from '../stages/hostile-stage.ts';

/** A reason why a batch that takes a while to be sent takes it. */
interface Slowness {
  readonly options: WorldOptions;
  readonly slow: (world: World) => void;
}

const slownesses: Readonly<Record<string, Slowness>> = {
  'a limit of one request a second': {
    options: {
      replicas: 20,
      maxUnavailable: '20',
      flags: ['-kubernetes.client-qps=1', '-kubernetes.client-burst=1'],
    },
    slow: () => undefined,
  },
  'deletions that take 3 s each': {
    options: { replicas: 50, maxUnavailable: '50', kubelet: { nodes: { count: 6 } } },
    slow: (world) => {
      world.cluster.faults.add({
        match: { client: 'operator-1', verb: 'delete', resource: 'pods' },
        action: { kind: 'delay', delay: seconds(3), when: 'after' },
      });
    },
  },
};

/** Something that happens in the middle of a batch, and the image of the pods that may go in spite of it. */
interface Cause {
  readonly happens: (world: World) => Promise<void>;
  readonly allowed: readonly string[];
}

const causes: Readonly<Record<string, Cause>> = {
  'the rollout is taken back': {
    happens: (world) => world.setImage(images.old),
    allowed: [images.new],
  },
  'a pod of another zone is lost': {
    happens: (world) => world.deletePod('ingester-zone-c-0'),
    allowed: [],
  },
  'the limit is lowered to 1': {
    happens: (world) =>
      world.patchSet('a', { metadata: { annotations: { 'rollout-max-unavailable': '1' } } }),
    allowed: [],
  },
};

for (const [slowness, { options, slow }] of Object.entries(slownesses)) {
  for (const [cause, { happens, allowed }] of Object.entries(causes)) {
    test(`a batch stops within a second when ${cause}, in spite of ${slowness}`, async () => {
      const world = await World.create(options);
      await world.readyOperator();
      await world.clock.advance(seconds(30));
      slow(world);
      const lame = world.kubelet.behaviours.add({ behave: 'slow', by: minutes(10), match: {} });
      await world.setImage(images.new, ['a']);
      await world.clock.runUntil(() => isUnderWay(world), { maxVirtual: minutes(1) });
      await happens(world);
      const shownAt = world.clock.now();
      await world.clock.advance(minutes(2));
      const late = deletionsSince(world, shownAt + 1_000);
      assert.deepEqual(
        late.filter(({ image }) => !allowed.includes(image ?? 'none')),
        [],
      );
      lame.remove();
      world.cluster.faults.clear();
      const goal = allowed.includes(images.new) ? images.old : images.new;
      await world.setImage(goal);
      await world.untilRolled(goal);
      await world.close();
    });
  }
}

/** Whether two pods of zone a are gone: more of the batch are to go. */
function isUnderWay(world: World): boolean {
  return world.record.log.filter(({ message }) => message === 'deleting pod').length >= 2;
}
