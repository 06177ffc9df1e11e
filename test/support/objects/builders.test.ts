import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { after, seconds } from '#base/units.ts';
import { isAvailable, podFacts, setFacts } from '../history/facts.ts';
import { ingesterGroup, rawPod, rawStatefulSet } from './objects.ts';
import { podView, statefulSetView, T0 } from './views.ts';

test('statefulSetView() is a set as the scenarios of rollout groups have it', () => {
  const set = statefulSetView();
  assert.equal(set.name, 'ingester-zone-a');
  assert.equal(set.spec.updateStrategy, 'OnDelete');
  assert.equal(set.annotations['rollout-max-unavailable'], '2');
  assert.equal(set.status.updateRevision, 'last-hash');
});

test('statefulSetView() overrides one member of spec and keeps the others', () => {
  const set = statefulSetView({ name: 'x', spec: { replicas: 7 } });
  assert.equal(set.spec.replicas, 7);
  assert.equal(set.spec.serviceName, 'x');
  assert.equal(set.uid, 'x-uid');
});

test('podView() belongs to the set that its name begins with', () => {
  assert.equal(podView({ name: 'ingester-zone-b-12' }).controllerUid, 'ingester-zone-b-uid');
});

test('podView() overrides a member by undefined', () => {
  assert.equal(podView({ readySince: undefined }).readySince, undefined);
});

test('ingesterGroup() makes sets and pods of one accord', () => {
  const group = ingesterGroup({ zones: ['a', 'b'], replicas: 2 });
  assert.deepEqual(
    group.pods.map((pod) => podFacts(pod).name),
    ['ingester-zone-a-0', 'ingester-zone-a-1', 'ingester-zone-b-0', 'ingester-zone-b-1'],
  );
  assert.deepEqual(
    group.sets.map((set) => setFacts(set).limit),
    [2, 2],
  );
});

const set = setFacts(rawStatefulSet({ minReadySeconds: 30 }));
const availability: Record<string, { pod: Parameters<typeof rawPod>[0]; want: boolean }> = {
  'a pod ready for long enough': { pod: {}, want: true },
  'a pod ready for exactly minReadySeconds': {
    pod: { ready: after(T0, seconds(-30)) },
    want: true,
  },
  'a pod ready for a second less': { pod: { ready: after(T0, seconds(-29)) }, want: false },
  'a pod ready in the future': { pod: { ready: after(T0, seconds(60)) }, want: false },
  'a pod that is not ready': { pod: { ready: false }, want: false },
  'a pending pod': { pod: { phase: 'Pending' }, want: false },
  'a failed pod': { pod: { phase: 'Failed' }, want: false },
  'a terminating pod': { pod: { terminatingSince: T0 }, want: false },
  'a pod of a set of the same name with another uid': { pod: { setUid: 'old' }, want: false },
};

for (const [fact, { pod, want }] of Object.entries(availability)) {
  test(`isAvailable() is ${want} for ${fact} (D-10)`, () => {
    assert.equal(isAvailable(podFacts(rawPod(pod)), set, T0), want);
  });
}

const strange: Record<string, { status: JsonObject; want: boolean }> = {
  'a container that is not ready': {
    status: { containerStatuses: [{ ready: false, state: { running: {} } }] },
    want: false,
  },
  'a container that waits': {
    status: { containerStatuses: [{ ready: true, state: { waiting: {} } }] },
    want: false,
  },
  'no container statuses': { status: { containerStatuses: [] }, want: true },
  'no conditions': { status: { conditions: [] }, want: false },
};

for (const [fact, { status, want }] of Object.entries(strange)) {
  test(`isAvailable() is ${want} for ${fact} (D-10)`, () => {
    const pod = rawPod();
    const object = { ...pod, status: merged(pod, 'status', status) };
    assert.equal(isAvailable(podFacts(object), set, T0), want);
  });
}

test('setFacts() knows no target while the status is older than the spec', () => {
  const set = rawStatefulSet();
  const object = { ...set, metadata: merged(set, 'metadata', { generation: 2 }) };
  assert.equal(setFacts(object).target, undefined);
});

function merged(object: JsonObject, part: string, change: JsonObject): JsonObject {
  const old = object[part];
  return { ...(isJsonObject(old) ? old : {}), ...change };
}
