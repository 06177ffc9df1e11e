import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { textAt } from '#support/objects/json-path.ts';
import {
  delayAnnotations,
  followAnnotations,
  mirrorAnnotations,
} from '#support/objects/scaling.ts';
import { World } from '#support/world/world.ts';
import { NAMESPACE } from '#support/world/world-group.ts';
import { assertBlockedBy, eventsAbout } from '../stages/hostile-stage.ts';
import { annotateSet, autoscale, createTemplate, replicasOf } from '../stages/scaling-stage.ts';

const set = 'ingester-zone-a';
const template = { namespace: NAMESPACE, name: 'ingester' };
const target = { type: resourceTypes.replicaTemplates, name: 'ingester' };
const NOTE = 'rollout-operator/prepared-at';

/** Returns annotations that remove those of `given`. */
function without(given: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(Object.keys(given).map((key) => [key, null]));
}

/** One zone of three that mirrors a ReplicaTemplate with a delay of an hour, whose pods 1 and 2 were asked half an hour ago. */
async function preparedWorld(): Promise<World> {
  const world = await World.create({ zones: ['a'] });
  await createTemplate(world, 'ingester', 3);
  await annotateSet(world, 'a', { ...mirrorAnnotations('ingester'), ...delayAnnotations('1h') });
  return world;
}

async function untilPrepared(world: World): Promise<void> {
  await autoscale(world, target, 1);
  await world.clock.advance(minutes(30));
  assert.deepEqual(prepared(world), [1, 2]);
}

/** Returns the ordinals of the pods that are prepared to go. */
function prepared(world: World): readonly number[] {
  return [0, 1, 2].filter((pod) => world.fleet.preparedSince(`${set}-${pod}`) !== undefined);
}

function noted(world: World): string | undefined {
  const stored = world.stored('statefulsets.apps', set) ?? {};
  return textAt(stored, 'metadata', 'annotations', NOTE);
}

async function deleteTemplate(world: World): Promise<void> {
  await world.run(
    world.admin.delete(resourceTypes.replicaTemplates, template, { preconditions: {} }),
  );
}

const changes: Readonly<Record<string, (world: World) => Promise<void>>> = {
  'the mirror annotations go': (world) =>
    annotateSet(world, 'a', without(mirrorAnnotations('ingester'))),
  'all five annotations go': (world) =>
    annotateSet(world, 'a', {
      ...without(mirrorAnnotations('ingester')),
      ...without(delayAnnotations('1h')),
    }),
  'the ReplicaTemplate is deleted': deleteTemplate,
  'the delay cannot be read, and the count returns': async (world) => {
    await annotateSet(world, 'a', { 'grafana.com/rollout-delayed-downscale': 'soon' });
    await autoscale(world, target, 3);
  },
  'the delay goes with the count': async (world) => {
    await autoscale(world, target, 3);
    await annotateSet(world, 'a', without(delayAnnotations('1h')));
  },
  'the set follows a leader instead': (world) =>
    annotateSet(world, 'a', {
      ...without(mirrorAnnotations('ingester')),
      ...followAnnotations('ingester-zone-z'),
    }),
  'the set follows a leader as well': (world) =>
    annotateSet(world, 'a', followAnnotations('ingester-zone-z')),
  'the set mirrors a kind that nobody serves': (world) =>
    annotateSet(world, 'a', {
      'grafana.com/rollout-mirror-replicas-from-resource-kind': 'Nothing',
    }),
  'the URL changes, and the count returns': async (world) => {
    const url = 'http://pod:81/elsewhere';
    await annotateSet(world, 'a', { 'grafana.com/rollout-prepare-delayed-downscale-url': url });
    await autoscale(world, target, 3);
  },
};

for (const [change, act] of Object.entries(changes)) {
  test(`[found R-4] pods that were prepared to go are notified that they stay when ${change}`, async () => {
    const world = await preparedWorld();
    await world.readyOperator();
    await untilPrepared(world);
    const before = world.fleet.calls.length;
    await act(world);
    await world.clock.advance(minutes(1));
    const paths = world.fleet.calls
      .slice(before)
      .filter(({ method }) => method === 'DELETE')
      .map(({ pod, path }) => `${pod} ${path}`);
    assert.ok(paths.includes(`${set}-1 /prepare-delayed-downscale`), paths.join());
    assert.ok(paths.includes(`${set}-2 /prepare-delayed-downscale`), paths.join());
    assert.deepEqual([prepared(world), noted(world), replicasOf(world)], [[], undefined, [3]]);
    const { length } = world.fleet.calls;
    await world.clock.advance(minutes(90));
    assert.equal(world.fleet.calls.length, length);
    await world.close();
  });

  test(`[found R-4] pods are notified that they stay by the next process when ${change} while none runs`, async () => {
    const world = await preparedWorld();
    const first = await world.readyOperator();
    await untilPrepared(world);
    first.kill();
    await act(world);
    await world.clock.advance(seconds(30));
    await world.readyOperator();
    await world.clock.advance(minutes(1));
    assert.deepEqual([prepared(world), noted(world), replicasOf(world)], [[], undefined, [3]]);
    await world.close();
  });
}

test('[found R-4] a pod that does not take that it stays is named, until it does', async () => {
  const world = await preparedWorld();
  const operator = await world.readyOperator();
  await untilPrepared(world);
  world.fleet.behave({ kind: 'answer', status: 500 }, `${set}-1`);
  await deleteTemplate(world);
  await annotateSet(world, 'a', without(mirrorAnnotations('ingester')));
  await world.clock.advance(minutes(1));
  await assertBlockedBy([world, operator], ['PodsStayPrepared']);
  const said = eventsAbout(world, set).find(({ reason }) => reason === 'PodsStayPrepared');
  assert.equal(
    said?.message,
    'Pod "ingester-zone-a-1" stays, and does not say that it is not prepared to go any more: it answered 500: ""',
  );
  world.fleet.behave({ kind: 'application' }, `${set}-1`);
  await world.clock.advance(minutes(2));
  await assertBlockedBy([world, operator], ['nothing']);
  assert.deepEqual([prepared(world), noted(world)], [[], undefined]);
  await world.close();
});

test('[found R-4] where a pod was asked is noted before it is asked, and gone once all have gone or stay', async () => {
  const world = await preparedWorld();
  await world.readyOperator();
  await world.clock.advance(minutes(1));
  assert.equal(noted(world), undefined);
  await untilPrepared(world);
  assert.equal(noted(world), 'http://pod/prepare-delayed-downscale');
  const [note] = world.cluster.eventLog.commits.filter(
    ({ after }) => textAt(after ?? {}, 'metadata', 'annotations', NOTE) !== undefined,
  );
  const [post] = world.fleet.calls.filter(({ method }) => method === 'POST');
  assert.ok(note !== undefined && post !== undefined && note.at <= post.at);
  await world.clock.runUntil(() => replicasOf(world)[0] === 1, { maxVirtual: minutes(40) });
  await world.clock.advance(minutes(1));
  assert.equal(noted(world), undefined);
  await world.close();
});

test('[found R-4] no pod is asked while it cannot be noted where, and the reason says so', async () => {
  const world = await preparedWorld();
  const operator = await world.readyOperator();
  const match = { client: operator.client, verb: 'patch', resource: 'statefulsets' };
  const action = { kind: 'error', code: 403 } as const;
  const release = world.cluster.faults.add({ match, action });
  await autoscale(world, target, 1);
  await world.clock.advance(minutes(5));
  await assertBlockedBy([world, operator], ['PodNotPrepared']);
  assert.ok(world.cluster.faults.hits.length <= 12, `${world.cluster.faults.hits.length} writes`);
  assert.equal(world.fleet.calls.filter(({ method }) => method === 'POST').length, 0);
  release();
  await world.clock.advance(minutes(2));
  assert.deepEqual(prepared(world), [1, 2]);
  await world.close();
});
