import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GroupWorld, refusal } from '#testing/group-world.ts';
import { ingesterGroup } from '#testing/objects.ts';
import { T0 } from '#testing/views.ts';
import type { PodRef } from './decision.ts';
import { FENCE_ANNOTATION, Fence, type Touch } from './fence.ts';

const SET = 'ingester-zone-a-uid';

interface Bench {
  readonly world: GroupWorld;
  readonly fence: Fence;
  readonly pods: readonly PodRef[];
  readonly signal: AbortSignal;
}

function bench(canTouchPods = true): Bench {
  const world = new GroupWorld(ingesterGroup({ zones: ['a'] }));
  const { client, clock } = world;
  const ports = { client, clock, pods: world.pods.freshness, identity: 'me', canTouchPods };
  const pods = [...world.pods.lister.list()].map(({ namespace, name, uid, resourceVersion }) => ({
    namespace,
    name,
    uid,
    resourceVersion,
    revision: 'prev-hash',
  }));
  return { world, fence: new Fence(ports), pods, signal: new AbortController().signal };
}

function kinds(touches: readonly Touch[]): readonly string[] {
  return touches.map((touch) => `${touch.pod.name} ${touch.kind}`).sort();
}

test('Fence.close() touches each pod once, and opens from when all were answered (D-8)', async () => {
  const { world, fence, pods, signal } = bench();
  world.after = () => world.clock.advance(100);
  assert.equal(fence.openSince(SET), undefined);
  assert.deepEqual(await fence.close(SET, pods, signal), { kind: 'open' });
  assert.deepEqual(world.taken(), [
    'patch ingester-zone-a-0',
    'patch ingester-zone-a-1',
    'patch ingester-zone-a-2',
  ]);
  assert.equal(fence.openSince(SET), world.clock.monotonic());
  assert.deepEqual(await fence.close(SET, pods, signal), { kind: 'open' });
  assert.deepEqual(world.taken(), []);
});

test('Fence.close() goes on where it failed, and touches no pod twice', async () => {
  const { world, fence, pods, signal } = bench();
  world.before = ({ name }) => {
    if (name === 'ingester-zone-a-1') throw refusal(500);
  };
  await assert.rejects(fence.close(SET, pods, signal), { status: 500 });
  assert.equal(fence.openSince(SET), undefined);
  assert.equal(world.taken().length, 3);
  world.before = () => undefined;
  assert.deepEqual(await fence.close(SET, pods, signal), { kind: 'open' });
  assert.deepEqual(world.taken(), ['patch ingester-zone-a-1']);
});

test('Fence.close() waits 120 s from the start where pods may not be patched, and stops asking after 10 s (D-1, D-8)', async () => {
  const { world, fence, pods, signal } = bench();
  world.before = () => {
    throw refusal(403);
  };
  await world.clock.advance(5_000);
  const until = T0 + 120_000;
  const [first] = pods;
  assert.ok(first !== undefined);
  // An API server that has just started forbids what it will allow.
  await assert.rejects(fence.close(SET, [first], signal), { status: 403 });
  await world.clock.advance(9_999);
  await assert.rejects(fence.close(SET, [first], signal), { status: 403 });
  await world.clock.advance(1);
  world.taken();
  assert.deepEqual(await fence.close(SET, [first], signal), { kind: 'waiting', until });
  assert.deepEqual(world.taken(), ['patch ingester-zone-a-0']);
  assert.deepEqual(await fence.close(SET, pods, signal), { kind: 'waiting', until });
  assert.deepEqual(world.taken(), []);
  await world.clock.advance(104_999);
  assert.equal(fence.openSince(SET), undefined);
  await world.clock.advance(1);
  assert.equal(fence.openSince(SET), until);
  assert.deepEqual(await fence.close(SET, pods, signal), { kind: 'open' });
});

test('Fence.close() does not ask at all where the Role is known not to permit it (D-1)', async () => {
  const { world, fence, pods, signal } = bench(false);
  const state = await fence.close(SET, pods, signal);
  assert.equal(state.kind, 'waiting');
  assert.deepEqual(world.taken(), []);
});

test('Fence.open() opens for any view, without a touch, and does not move a later time back', async () => {
  const { world, fence, pods, signal } = bench();
  fence.open(SET);
  assert.equal(fence.openSince(SET), -Infinity);
  await fence.close(SET, pods, signal);
  assert.deepEqual(world.taken(), []);
  await world.clock.advance(50);
  await fence.close('other', [], signal);
  fence.open('other');
  assert.equal(fence.openSince('other'), T0 + 50);
});

test('Fence.touch() tells pods that are gone, another incarnation, or terminating from those it touched', async () => {
  const { world, fence, pods, signal } = bench();
  world.drop('pods', 'ingester-zone-a-0');
  world.annotate('pods', 'ingester-zone-a-1', { uid: 'another' });
  world.annotate('pods', 'ingester-zone-a-2', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  const { touches, error } = await fence.touch(pods, signal);
  assert.equal(error, undefined);
  assert.deepEqual(kinds(touches), [
    'ingester-zone-a-0 moved',
    'ingester-zone-a-1 moved',
    'ingester-zone-a-2 touched',
  ]);
  const touched = touches.find((touch) => touch.kind === 'touched');
  assert.equal(touched?.isTerminating, true);
});

test('Fence.touch() moves the resourceVersion at each touch of a pod: the same value again would void nothing', async () => {
  const { world, fence, pods, signal } = bench();
  const [pod] = pods;
  assert.ok(pod !== undefined);
  const values: unknown[] = [];
  for (let turn = 0; turn < 2; turn += 1) {
    const before = world.object('pods', pod.name).metadata.resourceVersion;
    await fence.touch([pod], signal);
    const { resourceVersion, annotations } = world.object('pods', pod.name).metadata;
    assert.notEqual(resourceVersion, before);
    values.push(annotations?.[FENCE_ANNOTATION]);
  }
  assert.deepEqual(values, ['me/1', 'me/2']);
});

test('Fence.touch() fails where the answer repeats the resourceVersion, as nothing is voided then', async () => {
  const { world, pods, signal } = bench();
  const repeating = (): Promise<ReturnType<typeof world.object>> =>
    Promise.resolve(world.object('pods', 'ingester-zone-a-0'));
  const ports = { clock: world.clock, pods: world.pods.freshness, identity: 'me' };
  const client = { ...world.client, patch: repeating };
  const { touches, error } = await new Fence({ ...ports, client, canTouchPods: true }).touch(
    pods.slice(0, 1),
    signal,
  );
  assert.deepEqual(touches, []);
  assert.match(error?.message ?? '', /left its resourceVersion at 102/);
});

test('Fence.touch() returns what it touched beside the first error, and has ended then', async () => {
  const { world, fence, pods, signal } = bench();
  world.before = async ({ name }) => {
    if (name === 'ingester-zone-a-0') throw refusal(500);
    await world.clock.yield();
  };
  const { touches, error } = await fence.touch(pods, signal);
  assert.equal(error?.message, refusal(500).message);
  assert.equal(touches.length, 2);
});

test('Fence.touch() proves the cache once it shows the touch (D-5)', async () => {
  const { world, fence, pods, signal } = bench();
  await world.clock.advance(1_000);
  await fence.touch(pods.slice(0, 1), signal);
  world.show();
  assert.deepEqual(world.pods.freshness.proof, {
    revision: '105',
    sentAt: T0 + 1_000,
    by: 'own-write',
  });
});
