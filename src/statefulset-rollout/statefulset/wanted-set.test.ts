import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import { isOrphaning, parseRollout } from '../parse-resource.ts';
import { hashOf } from '../spec/rollout-key.ts';
import { deciding, lasting } from '../status/status-view.ts';
import { appliedAnnotation, hashAnnotation, rolloutAnnotation, wantedSet } from './wanted-set.ts';

const setSpec: JsonObject = {
  replicas: 3,
  selector: { matchLabels: { app: 'web' } },
  template: { metadata: { labels: { app: 'web' } }, spec: { containers: [] } },
};

/** A resource whose spec has these fields, and whose set has those. */
function rollout(spec: JsonObject = {}, set: JsonObject = {}): JsonObject {
  const statefulset = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web' },
    spec: { ...setSpec, ...set },
  };
  return { metadata: { name: 'r', namespace: 'ns' }, spec: { percent: 50, statefulset, ...spec } };
}

function keyOf(object: JsonObject): { readonly key: string; readonly templateHash: string } {
  const { wanted } = parseRollout(object);
  assert.ok(wanted !== undefined);
  return wanted;
}

describe('the key of a rollout', () => {
  const usual = keyOf(rollout());
  const another: Record<string, JsonObject> = {
    percentage: rollout({ percent: 51 }),
    identity: rollout({ rolloutIdentity: 'again' }),
    'pod template': rollout({}, { template: { spec: { containers: [{ name: 'a' }] } } }),
    'field of the set': rollout({}, { minReadySeconds: 5 }),
  };
  for (const [fact, object] of Object.entries(another)) {
    test(`is another one by another ${fact}`, () => assert.notEqual(keyOf(object).key, usual.key));
  }

  const same: Record<string, JsonObject> = {
    'number of replicas [T-18]': rollout({}, { replicas: 12 }),
    'channel [T-55]': rollout({ channel: '#a' }),
    pause: rollout({ pauseRequested: true }),
    interval: rollout({ minPodEvictionIntervalSeconds: 5 }),
    'receiver of the callback': rollout({ bapi: { bapiUrl: 'https://a', stageId: 'b' } }),
    'order of its fields': rollout({}, Object.fromEntries(Object.entries(setSpec).toReversed())),
  };
  for (const [fact, object] of Object.entries(same)) {
    test(`is the same by another ${fact}`, () => assert.deepEqual(keyOf(object), usual));
  }

  test('tells another version from another percentage', () => {
    assert.equal(keyOf(rollout({ percent: 51 })).templateHash, usual.templateHash);
    const template = { spec: { containers: [{ name: 'a' }] } };
    assert.notEqual(keyOf(rollout({}, { template })).templateHash, usual.templateHash);
  });
});

test('hashOf() does not tell the orders of members apart, nor null from nothing', () => {
  assert.equal(
    hashOf({ a: 1, b: [{ c: 2, d: 3 }] }),
    hashOf({ b: [{ d: 3, c: 2 }], a: 1, e: null }),
  );
  assert.notEqual(hashOf([1, 2]), hashOf([2, 1]));
});

describe('wantedSet()', () => {
  const wish = { namespace: 'ns', rollout: 'r', replicas: 3 };
  const carried = (object: JsonObject): JsonObject => {
    const { spec } = parseRollout(object);
    assert.ok(spec.kind === 'valid');
    return wantedSet(spec.value.set, wish);
  };

  test('is the carried one, marked, on OnDelete, its template as it stands', () => {
    const set = carried(rollout());
    assert.deepEqual(objectAt(objectAt(set, 'spec'), 'template'), setSpec['template']);
    assert.deepEqual(objectAt(set, 'spec')['updateStrategy'], {
      type: 'OnDelete',
      rollingUpdate: null,
    });
    const { labels, annotations } = objectAt(set, 'metadata');
    assert.deepEqual(labels, { 'app.kubernetes.io/managed-by': 'statefulset-rollout-operator' });
    assert.equal((annotations as JsonObject)[rolloutAnnotation], 'ns/r');
  });

  test('says nothing of replicas that another client sets', () => {
    const { spec } = parseRollout(rollout());
    assert.ok(spec.kind === 'valid');
    const set = wantedSet(spec.value.set, { ...wish, replicas: undefined });
    assert.equal('replicas' in objectAt(set, 'spec'), false);
  });

  test('has one hash whatever the number of replicas', () => {
    const marks = (set: JsonObject): JsonObject =>
      objectAt(objectAt(set, 'metadata'), 'annotations');
    const [one, other] = [carried(rollout()), carried(rollout({}, { replicas: 12 }))];
    assert.equal(marks(one)[hashAnnotation], marks(other)[hashAnnotation]);
    assert.equal(marks(one)[appliedAnnotation], marks(other)[appliedAnnotation]);
  });

  test('does not remember what was wanted where that is larger than annotations may be', () => {
    const env = Array.from({ length: 20_000 }, (_, at) => ({ name: `A${at}`, value: 'x' }));
    const template = { spec: { containers: [{ name: 'a', env }] } };
    const annotations = objectAt(
      objectAt(carried(rollout({}, { template })), 'metadata'),
      'annotations',
    );
    assert.equal(appliedAnnotation in annotations, false);
    assert.ok(hashAnnotation in annotations);
  });
});

test('a resource that is deleted with its set left alone says so by a finalizer', () => {
  const object = rollout();
  const metadata = { ...objectAt(object, 'metadata'), finalizers: ['orphan'] };
  assert.equal(isOrphaning(parseRollout({ ...object, metadata })), true);
  assert.equal(isOrphaning(parseRollout(object)), false);
});

test('when a status was written, and when it is looked at again, is no change of it', () => {
  const status = { phase: 'RollingOut', pods: [], lastUpdated: 'a', reconcileAfter: 'b' };
  assert.deepEqual(lasting(status), { phase: 'RollingOut', pods: [] });
  assert.equal('pods' in deciding(status), false);
});
