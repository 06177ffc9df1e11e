/** Sets that leave their group in the middle of a rollout: deleted with or without their pods, made again, moved, without a label. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis, minutes, seconds } from '#base/units.ts';
import { objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { GROUP, images, NAMESPACE, setName } from '#support/world/world-group.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';
import { deletedPods, eventReasons } from '../stages/rollout-stage.ts';

const group: WorldOptions = {
  replicas: 3,
  maxUnavailable: '1',
  kubelet: { delays: { stop: seconds(4) } },
};
const first = 'ingester-zone-a-0';
const setOfA = { namespace: NAMESPACE, name: setName('a') };

/** Whether a stored pod serves. */
function serves(pod: JsonObject | undefined): boolean {
  if (pod === undefined || textAt(pod, 'metadata', 'deletionTimestamp') !== '') return false;
  return objectsAt(pod, 'status', 'conditions').some(
    (each) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True',
  );
}

/** What users call an outage: a pod that the operator takes while a pod of another zone does not serve; from the store alone. */
function outages(world: World, since: number): readonly string[] {
  const down = new Set<string>();
  const found: string[] = [];
  for (const commit of world.cluster.eventLog.commits) {
    const { resource, name, before, after, user, at } = commit;
    if (resource !== 'pods' || !name.startsWith(GROUP)) continue;
    const zone = name.slice(0, name.lastIndexOf('-'));
    if (at >= since && user === OPERATOR_USER && serves(before) && !serves(after)) {
      const others = [...down].filter((pod) => !pod.startsWith(zone));
      if (others.length > 0) found.push(`${name} went while ${others.join(', ')} did not serve`);
    }
    if (serves(after)) down.delete(name);
    else down.add(name);
  }
  return found;
}

/** Opens a group of which the first pod of zone a has just been deleted, by a rollout. */
async function midRollout(opened: WorldOptions = group): Promise<World> {
  const world = await World.create(opened);
  await world.readyOperator();
  await world.clock.advance(minutes(3));
  await world.setImage(images.new);
  await world.clock.runUntil(() => deletedPods(world).length === 1);
  assert.deepEqual(deletedPods(world), [first]);
  await world.clock.advance(seconds(2));
  return world;
}

async function deleteSet(
  world: World,
  propagationPolicy: 'Orphan' | 'Background' | 'Foreground',
): Promise<JsonObject> {
  const stored = world.stored('statefulsets.apps', setOfA.name);
  assert.ok(stored !== undefined);
  await world.run(
    world.admin.delete(resourceTypes.statefulSets, setOfA, {
      preconditions: {},
      propagationPolicy,
    }),
  );
  return stored;
}

/** Applies what was stored again, as a manifest says it. */
async function applyAgain(world: World, stored: JsonObject): Promise<void> {
  const { name, labels, annotations } = objectAt(stored, 'metadata');
  const body = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { namespace: NAMESPACE, name, labels, annotations },
    spec: objectAt(stored, 'spec'),
  } as JsonObject;
  await world.run(
    world.admin.create(resourceTypes.statefulSets, { namespace: NAMESPACE }, { body }),
  );
}

for (const gap of [millis(300), seconds(3), minutes(1)]) {
  test(`[found R-1] a set that is orphaned in mid-rollout, and made again after ${gap / 1_000} s, has the other zones wait until it is whole [EXCL-1]`, async () => {
    const world = await midRollout();
    const since = world.clock.now();
    const stored = await deleteSet(world, 'Orphan');
    await world.clock.advance(gap);
    await applyAgain(world, stored);
    await world.untilRolled(images.new);
    assert.deepEqual(outages(world, since), []);
    await world.close();
  });
}

test('[found S-2] a set that is orphaned and never made again holds the others by the names of its pods, until those are gone', async () => {
  const world = await midRollout();
  const since = world.clock.now();
  await deleteSet(world, 'Orphan');
  await world.clock.advance(minutes(10));
  assert.deepEqual(deletedPods(world), [first]);
  const told = world.names('events').map((name) => textAt(world.stored('events', name), 'message'));
  assert.ok(
    told.some((message) =>
      /ingester-zone-a-1, ingester-zone-a-2 are left of ingester-zone-a, which was deleted/.test(
        message,
      ),
    ),
    told.join('\n'),
  );
  assert.ok(eventReasons(world, setName('b')).includes('PodsWithoutSet'));
  for (const ordinal of [1, 2]) await world.deletePod(`${setName('a')}-${ordinal}`);
  await world.clock.advance(minutes(3));
  assert.ok(deletedPods(world).length > 1, 'the rest of the group goes on');
  assert.deepEqual(
    outages(world, since).filter((each) => !/zone-a/.test(each)),
    [],
  );
  await world.close();
});

for (const policy of ['Background', 'Foreground'] as const) {
  test(`[found S-2] a set that is deleted with its pods (${policy}) has the other zones wait until those are gone [EXCL-1]`, async () => {
    const world = await midRollout();
    await deleteSet(world, policy);
    await world.clock.advance(minutes(3));
    const { commits } = world.cluster.eventLog;
    const lastOfA = commits.findLastIndex(
      ({ resource, name, after }) =>
        resource === 'pods' && name.startsWith(setName('a')) && after === undefined,
    );
    const firstOfB = commits.findIndex(
      ({ resource, name, user }) =>
        resource === 'pods' && name.startsWith(setName('b')) && user === OPERATOR_USER,
    );
    assert.ok(lastOfA > 0);
    assert.ok(firstOfB > lastOfA, 'a pod of zone b went first');
    assert.ok(deletedPods(world).length > 1, 'the rest of the group goes on');
    await world.close();
  });
}

for (const [what, label] of [
  ['loses its label', null],
  ['is moved to another group', 'other'],
] as const) {
  test(`[found S-2] a set that ${what} in mid-rollout has its former group wait until the pod that we took is back [EXCL-1]`, async () => {
    const world = await midRollout();
    const since = world.clock.now();
    world.kubelet.behaviours.add({ behave: 'slow', by: minutes(1), match: { name: first } });
    await world.patchSet('a', { metadata: { labels: { 'rollout-group': label } } });
    await world.clock.advance(minutes(5));
    assert.ok(deletedPods(world).some((name) => name.startsWith(setName('b'))));
    // Once it is back, the two groups are two.
    const early = outages(world, since).filter((each) => each.includes(first));
    assert.deepEqual(early, []);
    await world.close();
  });
}

test('[found S-2] without a rollout of that zone, an orphaned set holds the group as well', async () => {
  const world = await World.create(group);
  await world.readyOperator();
  await world.clock.advance(minutes(3));
  await deleteSet(world, 'Orphan');
  await world.setImage(images.new, ['b', 'c']);
  await world.clock.advance(minutes(3));
  assert.deepEqual(deletedPods(world), []);
  await world.close();
});

test('[found S-2] pods that carry the label of the group hold it after a restart, too', async () => {
  const name = { name: setName('a') };
  const template = {
    metadata: { labels: { ...name, 'rollout-group': GROUP } },
    spec: { containers: [{ name: 'ingester', image: images.old }] },
  };
  const world = await World.create({
    ...group,
    zones: ['a', 'b'],
    spec: { template, selector: { matchLabels: { 'rollout-group': GROUP } } },
  });
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(3));
  await deleteSet(world, 'Orphan');
  await world.clock.advance(seconds(2));
  await world.run(operator.stop());
  await world.readyOperator();
  await world.clock.advance(minutes(3));
  await world.setImage(images.new, ['b']);
  await world.clock.advance(minutes(3));
  assert.deepEqual(deletedPods(world), []);
  await world.close();
});
