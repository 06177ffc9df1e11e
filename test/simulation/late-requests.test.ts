import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import type { Judgement } from '#support/judge/judge.ts';
import { World } from '#support/world/world.ts';
import { images, setName } from '#support/world/world-group.ts';
import { annotateSet, autoscaleSet, follow } from '../integration/stages/scaling-stage.ts';
import { reference } from './scenario.ts';

/** How late what the killed operator had sent arrives: well after its successor began. */
const late = seconds(60);

const threeZones = { ...reference.world, zones: ['a', 'b', 'c'] };

/** Kills the first operator when its first request of this kind has arrived at the server and had no effect yet. */
function killAtFirst(
  world: World,
  match: { readonly verb: string; readonly resource: string },
): void {
  world.cluster.faults.beforeWrite({ client: 'operator-1', ...match }, 1, () => {
    world.operators[0]?.kill({ late });
  });
}

async function untilKilled(world: World): Promise<void> {
  await world.clock.runUntil(() => world.operators[0]?.isAlive === false, {
    maxVirtual: minutes(5),
  });
}

function idsOf(judgement: Judgement): readonly string[] {
  return [...new Set(judgement.violations.map(({ id }) => id))].sort();
}

test('a request that a killed operator had sent arrives late, and its pod goes', async () => {
  const world = await World.create(reference.world);
  await world.readyOperator();
  killAtFirst(world, { verb: 'delete', resource: 'pods' });
  await world.setImage(images.new);
  await untilKilled(world);
  const uidOf = (): unknown => {
    const { metadata } = world.stored('pods', `${setName('a')}-0`) ?? {};
    return metadata === undefined
      ? undefined
      : JSON.stringify(metadata).match(/"uid":"[^"]+"/)?.[0];
  };
  const uid = uidOf();
  await world.clock.advance(seconds(59));
  assert.equal(uidOf(), uid);
  await world.clock.advance(seconds(5));
  assert.notEqual(uidOf(), uid);
  assert.deepEqual(idsOf(world.judge()), []);
  await world.close();
});

test('without a word about lateness what a killed operator had sent is void', async () => {
  const world = await World.create(reference.world);
  await world.readyOperator();
  world.cluster.faults.beforeWrite(
    { client: 'operator-1', verb: 'delete', resource: 'pods' },
    1,
    () => world.operators[0]?.kill(),
  );
  await world.setImage(images.new);
  await untilKilled(world);
  await world.clock.advance(seconds(130));
  const removals = world.cluster.eventLog.commits.filter(({ verb }) => verb === 'delete');
  assert.deepEqual(removals, []);
  await world.close();
});

test('a late request arrives within 120 s, as the seed says', async () => {
  const arrivals = new Set<number>();
  for (const seed of [1, 2, 3]) {
    const world = await World.create({ ...reference.world, seed });
    await world.readyOperator();
    world.cluster.faults.beforeWrite(
      { client: 'operator-1', verb: 'delete', resource: 'pods' },
      1,
      () => world.operators[0]?.kill({ late: 'seeded' }),
    );
    await world.setImage(images.new);
    await untilKilled(world);
    const killedAt = world.clock.now();
    await world.clock.advance(seconds(125));
    const gone = world.cluster.eventLog.commits.find(({ verb }) => verb === 'delete');
    assert.ok(gone !== undefined && gone.at - killedAt <= 121_000);
    arrivals.add(gone.at - killedAt);
    await world.close();
  }
  assert.equal(arrivals.size, 3);
});

test('a late deletion that lands after a rollback meets no zone that is being rolled [WRIT-1] [EXCL-1]', async () => {
  const world = await World.create(threeZones);
  await world.readyOperator();
  killAtFirst(world, { verb: 'delete', resource: 'pods' });
  await world.setImage(images.new);
  await untilKilled(world);
  // Rolled back, the pod of the late request is up to date: nothing shows that it may still go.
  await world.setImage(images.old, ['a']);
  world.kubelet.behaviours.add({ behave: 'neverReady', match: { image: images.new } });
  world.startOperator();
  await world.clock.advance(seconds(125));
  assert.equal(lateArrivals(world), 1);
  assert.deepEqual(idsOf(world.judge()), []);
  await world.close();
});

test('a late write of replicas that lands after the count returned meets no zone that is being rolled [WRIT-1] [SCAL-1]', async () => {
  const world = await World.create(threeZones);
  await annotateSet(world, 'b', follow('a'));
  await world.readyOperator();
  killAtFirst(world, { verb: 'patch', resource: 'statefulsets' });
  await autoscaleSet(world, 'a', 1);
  await untilKilled(world);
  await autoscaleSet(world, 'a', 2);
  await world.clock.advance(seconds(10));
  world.kubelet.behaviours.add({ behave: 'neverReady', match: { image: images.new } });
  await world.setImage(images.new, ['c']);
  world.startOperator();
  await world.clock.advance(seconds(125));
  assert.equal(lateArrivals(world), 1);
  assert.deepEqual(idsOf(world.judge()), []);
  await world.close();
});

/** How many writes of the first operator to pods and sets had an effect. */
function lateArrivals(world: World): number {
  const { calls, commits } = world.cluster.eventLog;
  const own = new Set(
    calls
      .filter(
        ({ client, resource }) => client === 'operator-1' && /^(pods|statefulsets)/.test(resource),
      )
      .map(({ callId }) => callId),
  );
  return new Set(commits.map(({ callId }) => callId).filter((callId) => own.has(callId))).size;
}
