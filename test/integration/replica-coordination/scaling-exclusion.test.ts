import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { forceAnnotation } from '#support/objects/scaling.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { assertKept, eventReasons } from '../stages/rollout-stage.ts';
import { annotateSet, follow, replicasOf } from '../stages/scaling-stage.ts';

/** Long enough to tell a pod that has just become ready from one that is available. */
const settling: WorldOptions = { spec: { minReadySeconds: 3 } };

/** A way to take a pod of zone a, and then to want zone a as it was before, so that nothing says what is under way. */
interface Way {
  readonly options?: WorldOptions;
  readonly go: (world: World) => Promise<void>;
}

async function takeBack(world: World, span: number): Promise<void> {
  await world.setImage(images.new, ['a']);
  await world.clock.advance(seconds(span));
  await world.setImage(images.old, ['a']);
}

const ways: Readonly<Record<string, Way>> = {
  'is rolled back before the pod is recreated': { go: (world) => takeBack(world, 0.05) },
  'is rolled back once the new pod has started': { go: (world) => takeBack(world, 1.5) },
  'is rolled back, and its pods take a while to be available': {
    options: settling,
    go: (world) => takeBack(world, 0.05),
  },
  'is rolled back while no operator runs': {
    go: async (world) => {
      await world.setImage(images.new, ['a']);
      await world.clock.advance(seconds(0.05));
      for (const operator of world.operators) operator.kill();
      await world.setImage(images.old, ['a']);
      await world.readyOperator();
    },
  },
  'shrinks, and grows again before its pod is gone': {
    go: async (world) => {
      await annotateSet(world, 'a', forceAnnotation(1));
      await world.clock.runUntil(() => replicasOf(world)[0] === 1);
      await annotateSet(world, 'a', forceAnnotation(undefined));
    },
  },
  'shrinks, and a person has it grow again': {
    go: async (world) => {
      await annotateSet(world, 'a', forceAnnotation(1));
      await world.clock.runUntil(() => replicasOf(world)[0] === 1);
      await world.patchSet('a', {
        metadata: { annotations: forceAnnotation(undefined) },
        spec: { replicas: 2 },
      });
    },
  },
  'grows in the middle of its rollout, which is taken back': {
    go: async (world) => {
      await world.setImage(images.new, ['a']);
      await world.clock.advance(seconds(0.05));
      await annotateSet(world, 'a', forceAnnotation(3));
      await world.setImage(images.old, ['a']);
    },
  },
};

/** Zones a and b follow c. */
async function startedWorld(options: WorldOptions = {}): Promise<World> {
  const world = await World.create({ replicas: 2, maxUnavailable: '1', ...options });
  for (const zone of ['a', 'b']) await annotateSet(world, zone, follow('c'));
  await world.readyOperator();
  await world.clock.advance(seconds(10));
  return world;
}

for (const [name, { options, go }] of Object.entries(ways)) {
  test(`[EXCL-1] no zone shrinks before the pod is back that was taken of one that ${name}`, async () => {
    for (let moment = 0.4; moment < 7; moment += 1) {
      const world = await startedWorld(options);
      await go(world);
      await world.clock.advance(seconds(moment));
      await annotateSet(world, 'b', forceAnnotation(1));
      await world.clock.runUntil(() => replicasOf(world)[1] === 1, { maxVirtual: minutes(5) });
      await world.clock.advance(minutes(1));
      assertKept(world);
      await world.close();
    }
  });
}

test('a zone shrinks although a pod of another one, which was available before, broke by itself [scenario 46]', async () => {
  const world = await startedWorld();
  world.kubelet.behaviours.add({ behave: 'neverReady', match: { name: 'ingester-zone-a-0' } });
  await world.clock.advance(seconds(30));
  await annotateSet(world, 'b', forceAnnotation(1));
  await world.clock.runUntil(() => replicasOf(world)[1] === 1, { maxVirtual: minutes(5) });
  assert.ok(!eventReasons(world, 'ingester-zone-b').includes('ZoneBeingChanged'));
  assertKept(world);
  await world.close();
});
