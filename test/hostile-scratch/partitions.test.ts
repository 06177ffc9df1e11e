/** Partition mode with a delay across zones, end to end, and clocks that are wrong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { images, NAMESPACE } from '#testing/world-group.ts';
import type { World, WorldOptions } from '#testing/world.ts';
import { budgetedWorld, givenAway, makeBudget } from '../integration/budget-stage.ts';
import { assertAtRest, blockedBy, deletedPods } from '../integration/rollout-stage.ts';
import { eventsAbout } from '../integration/hostile-stage.ts';
import { replica } from './second-replica.ts';

const spec = (delay?: string) => ({
  maxUnavailable: 1,
  podNamePartitionRegex: '[a-z\\-]+-zone-[a-z]-([0-9]+)',
  ...(delay !== undefined && { crossZoneEvictionDelay: delay }),
});

async function stage(delay?: string, options: WorldOptions = {}): Promise<World> {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1', ...options });
  await world.readyOperator();
  await world.clock.advance(minutes(3));
  await makeBudget(world, spec(delay));
  await world.clock.advance(seconds(11));
  return world;
}

async function annotate(world: World, pod: string, value: string): Promise<void> {
  const body = { kind: 'merge', document: { metadata: { annotations: { 'grafana.com/ready-time': value } } } } as const;
  await world.run(world.admin.patch(resourceTypes.pods, { namespace: NAMESPACE, name: pod }, { body }));
}

test('a rollout in partition mode with a delay of 1 min keeps the delay, ends, and leaves nothing', async () => {
  const world = await stage('1m');
  await world.setImage(images.new);
  await world.untilRolled(images.new, minutes(120));
  const deletions = new Map<string, number>();
  for (const { verb, resource, name, client, startedAt } of world.cluster.eventLog.calls) {
    if (verb === 'delete' && resource === 'pods' && client === 'operator-1') deletions.set(name, startedAt);
  }
  for (const ordinal of [0, 1, 2]) {
    const times = world.zones.map((zone) => deletions.get(`ingester-zone-${zone}-${ordinal}`) ?? 0).toSorted((a, b) => a - b);
    for (const [index, time] of times.entries()) {
      const before = times[index - 1];
      if (before !== undefined) assert.ok(time - before >= 60_000, `${ordinal}: ${times}`);
    }
  }
  await assertAtRest(world);
  assert.deepEqual(givenAway(world), []);
  await world.close();
});

for (const [what, value] of Object.entries({
  malformed: 'yesterday',
  'an hour ahead': '2026-01-01T05:00:00Z',
  'of the year 9999': '9999-12-31T23:59:59Z',
  huge: 'x'.repeat(5_000),
})) {
  test(`a ready time that is ${what} keeps nobody for longer than the delay`, async () => {
    const world = await stage('1m');
    await world.clock.advance(minutes(5));
    const two = await replica(world);
    await world.clock.advance(minutes(2));
    await annotate(world, 'ingester-zone-b-0', value);
    await world.clock.advance(minutes(2));
    const other = await world.run(two.evict('ingester-zone-a-0'));
    await two.stop();
    await world.close();
    assert.equal(other, 'allowed');
  });
}

for (const step of [60, -60, 2, -2]) {
  test(`an operator whose clock steps by ${step} min keeps a delay of 1 min, and a rollout ends`, async () => {
    const world = await stage('1m');
    const [operator] = world.operators;
    await world.setImage(images.new);
    await world.clock.advance(seconds(10));
    operator?.stepWallClock(minutes(step));
    await world.untilRolled(images.new, minutes(120));
    const deletions = new Map<string, number>();
    for (const { verb, resource, name, client, startedAt } of world.cluster.eventLog.calls) {
      if (verb === 'delete' && resource === 'pods' && client === 'operator-1') deletions.set(name, startedAt);
    }
    await world.close();
    for (const ordinal of [0, 1, 2]) {
      const times = world.zones.map((zone) => deletions.get(`ingester-zone-${zone}-${ordinal}`) ?? 0).toSorted((a, b) => a - b);
      for (const [index, time] of times.entries()) {
        const before = times[index - 1];
        if (before !== undefined) assert.ok(time - before >= 60_000, `${ordinal}: ${times}`);
      }
    }
  });
}

test('LIVE-2: a rollout that the delay holds names the pod, the budget and the end, and is no failure', async () => {
  const world = await stage('10m');
  const [operator] = world.operators;
  assert.ok(operator);
  await world.setImage(images.new);
  await world.clock.advance(minutes(3));
  const reason = await blockedBy(world, operator);
  const said = world.zones.flatMap((zone) => eventsAbout(world, `ingester-zone-${zone}`).map((e) => `${e.reason}: ${e.message}`));
  await world.close();
  assert.ok(said.some((text) => /BudgetRefused: .*partition.*ZoneAwarePodDisruptionBudget ingester.*ingester-zone-a-0.*until/.test(text)), `${reason}\n${said.join('\n')}`);
});

test('OrderedReady sets roll under a budget', async () => {
  const world = await stage(undefined, { spec: { podManagementPolicy: 'OrderedReady' } });
  await world.setImage(images.new);
  await world.untilRolled(images.new, minutes(60));
  await assertAtRest(world);
  assert.deepEqual(givenAway(world), []);
  await world.close();
});

test('two groups under one budget take turns, and both end', async () => {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
  await world.addGroup('store');
  for (const zone of world.zones) {
    const body = { kind: 'merge', document: { metadata: { labels: { app: 'ingester' } }, spec: { template: { metadata: { labels: { app: 'ingester' } } } } } } as const;
    await world.run(world.admin.patch(resourceTypes.statefulSets, { namespace: NAMESPACE, name: `store-zone-${zone}` }, { body }));
  }
  for (const zone of world.zones) for (const at of [0, 1, 2]) {
    const body = { kind: 'merge', document: { metadata: { labels: { app: 'ingester' } } } } as const;
    await world.run(world.admin.patch(resourceTypes.pods, { namespace: NAMESPACE, name: `store-zone-${zone}-${at}` }, { body }));
  }
  await world.readyOperator();
  await world.clock.advance(minutes(10));
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  const from = world.clock.now();
  await world.setImage(images.new);
  await world.setImageOf('store', images.next);
  let most = 0;
  const isDown = (name: string): boolean => {
    const pod = world.stored('pods', name) as { metadata?: { deletionTimestamp?: string }; status?: { conditions?: { type: string; status: string }[] } } | undefined;
    return pod?.metadata?.deletionTimestamp !== undefined || pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') !== true;
  };
  for (let at = 0; at < 3_600 && !(world.isComplete(images.new) && world.isComplete(images.next, 'store')); at += 1) {
    await world.clock.advance(seconds(0.5));
    const sets = ['ingester', 'store'].flatMap((group) => world.zones.map((zone) => `${group}-zone-${zone}`));
    most = Math.max(most, sets.filter((set) => [0, 1, 2].some((ordinal) => isDown(`${set}-${ordinal}`))).length);
  }
  const took = world.clock.now() - from;
  const done = [world.isComplete(images.new), world.isComplete(images.next, 'store')];
  const left = givenAway(world);
  await world.close();
  assert.deepEqual(done, [true, true]);
  assert.equal(most, 1);
  assert.ok(took < minutes(10), `${took} ms`);
  void left;
});
void deletedPods;
