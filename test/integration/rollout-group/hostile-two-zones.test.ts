import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { forceAnnotation } from '#support/objects/scaling.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { deletionsSince, silence } from '../stages/hostile-stage.ts';
import { annotateSet, follow, replicasOf } from '../stages/scaling-stage.ts';

/** What takes pods of one zone while another lacks some is told by the judge of the world. */
interface Attempt {
  readonly options?: WorldOptions;
  readonly run: (world: World) => Promise<void>;
}

const zones: WorldOptions = { replicas: 3, maxUnavailable: '1', zones: ['a', 'b'] };
const settling: WorldOptions = { ...zones, spec: { minReadySeconds: 30 } };

function slow(world: World, name: string): void {
  world.kubelet.behaviours.add({ behave: 'slow', by: minutes(1), match: { name } });
}

/** Has pods of `name` fail their readiness probes until the answer is called. */
function hiccup(world: World, name: string): () => void {
  const added = world.kubelet.behaviours.add({ behave: 'neverReady', match: { name } });
  return () => added.remove();
}

const attempts: Record<string, Attempt> = {
  'a zone whose pods fail their probes for 2 s is not scaled down while another is rolled': {
    run: async (world) => {
      await world.readyOperator();
      await annotateSet(world, 'b', follow('a'));
      await world.clock.advance(seconds(30));
      slow(world, 'ingester-zone-a-0');
      await world.setImage(images.new, ['a']);
      await world.clock.advance(seconds(1));
      await annotateSet(world, 'b', forceAnnotation(1));
      await world.clock.advance(seconds(1));
      const heal = hiccup(world, 'ingester-zone-b-*');
      await world.clock.advance(seconds(2));
      heal();
      await world.clock.advance(seconds(30));
      assert.deepEqual(replicasOf(world), [3, 3]);
      await world.clock.advance(minutes(5));
      assert.deepEqual(replicasOf(world), [3, 1]);
    },
  },
  'a pod that an old cache shows as not ready does not go while another zone is rolled': {
    run: async (world) => {
      const operator = await world.readyOperator();
      await annotateSet(world, 'b', follow('a'));
      await world.clock.advance(seconds(30));
      world.kubelet.behaviours.add({
        behave: 'slow',
        by: minutes(5),
        match: { name: 'ingester-zone-a-0' },
      });
      await world.setImage(images.new, ['a']);
      await world.clock.advance(seconds(1));
      const heal = hiccup(world, 'ingester-zone-b-2');
      await world.clock.advance(seconds(1));
      silence(world, operator, 'pods');
      heal();
      await world.clock.advance(seconds(70));
      await annotateSet(world, 'b', forceAnnotation(2));
      await world.clock.advance(seconds(1));
      assert.deepEqual(replicasOf(world), [3, 3]);
    },
  },
  'a zone that was scaled down and up again, and whose pod still goes, is waited for': {
    options: { ...zones, kubelet: { delays: { stop: seconds(4) } } },
    run: async (world) => {
      const operator = await world.readyOperator();
      await annotateSet(world, 'b', follow('a'));
      await world.clock.advance(seconds(30));
      const speak = silence(world, operator, 'pods');
      await annotateSet(world, 'b', forceAnnotation(2));
      await world.clock.advance(seconds(2));
      await annotateSet(world, 'b', forceAnnotation(undefined));
      await world.clock.advance(seconds(2));
      await world.setImage(images.new, ['a']);
      await world.clock.advance(seconds(8));
      speak();
      await world.clock.advance(minutes(2));
      assert.deepEqual(replicasOf(world), [3, 3]);
      assert.deepEqual(takenOf(world, 'a'), pods('a'));
    },
  },
  'pods that only a list shows as Ready again are waited for during minReadySeconds': {
    options: settling,
    run: async (world) => {
      const operator = await world.readyOperator();
      await world.clock.advance(minutes(2));
      const speak = silence(world, operator, 'pods');
      const heal = hiccup(world, 'ingester-zone-b-*');
      await world.clock.advance(seconds(15));
      heal();
      await world.clock.advance(seconds(5));
      await world.setImage(images.new, ['a']);
      await world.clock.advance(seconds(9));
      speak();
      await world.clock.advance(minutes(5));
      assert.deepEqual(takenOf(world, 'a'), pods('a'));
    },
  },
  'a deletion that was carried out and answered 409 is found out before another zone is rolled': {
    run: (world) => taken(world, { kind: 'error', code: 409, when: 'after' }),
  },
  'a deletion that arrives twice is found out before another zone is rolled': {
    run: (world) => taken(world, { kind: 'duplicate' }),
  },
};

type FaultAction = Parameters<World['cluster']['faults']['add']>[0]['action'];

/** A deletion of zone a meets `action`, its image is taken back, and zone b is to roll, all while no pod is shown. */
async function taken(world: World, action: FaultAction): Promise<void> {
  const operator = await world.readyOperator();
  await world.clock.advance(seconds(30));
  slow(world, 'ingester-zone-a-0');
  const match = { client: operator.client, verb: 'delete', resource: 'pods' } as const;
  world.cluster.faults.add({ match, count: 1, action });
  const speak = silence(world, operator, 'pods');
  await world.setImage(images.new, ['a']);
  await world.clock.advance(seconds(1));
  await world.setImage(images.old, ['a']);
  await world.setImage(images.new, ['b']);
  await world.clock.advance(seconds(7));
  speak();
  await world.clock.advance(minutes(3));
  assert.deepEqual(takenOf(world, 'b'), pods('b'));
}

/** The pods of `zone` that an operator took, in order. */
function takenOf(world: World, zone: string): readonly string[] {
  const taken = deletionsSince(world, 0).filter(({ image }) => image !== undefined);
  return taken.map(({ pod }) => pod).filter((pod) => pod.includes(`zone-${zone}`));
}

function pods(zone: string): readonly string[] {
  return [0, 1, 2].map((ordinal) => `ingester-zone-${zone}-${ordinal}`);
}

for (const [what, { options = zones, run }] of Object.entries(attempts)) {
  test(`${what} [EXCL-1]`, async () => {
    const world = await World.create(options);
    await run(world);
    assert.deepEqual(world.judge().violations, []);
    await world.close();
  });
}

for (const skew of [minutes(60), minutes(1), minutes(-60)]) {
  test(`minReadySeconds pass between two pods of a zone although the wall clock is off by ${skew / 60_000} min [MAXU-1]`, async () => {
    const world = await World.create(settling);
    const operator = world.startOperator();
    operator.stepWallClock(skew);
    await world.clock.advance(minutes(3));
    await world.setImage(images.new);
    await world.untilRolled(images.new, minutes(30));
    assert.deepEqual(world.judge().violations, []);
    await world.close();
  });
}
