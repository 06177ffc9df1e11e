import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { podRow } from '../resource/pod-row.ts';
import { resourceTable } from '../resource/table.ts';
import { statefulSetRow } from '../resource/workload-rows.ts';

const set: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web', labels: { app: 'web' } },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'web' } },
    updateStrategy: {
      type: 'RollingUpdate',
      rollingUpdate: { partition: 0, maxUnavailable: '50%' },
    },
    ordinals: { start: 1 },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'a' }] } },
  },
};

test('decode() gives the very object back when all its fields are known', () => {
  const decoded = statefulSetRow.decode(set);
  assert.equal(decoded.object, set);
  assert.deepEqual(decoded.unknown, []);
});

test('[cluster 26] decode() drops unknown fields and lists their paths', () => {
  const typo: JsonObject = {
    ...set,
    spec: {
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partitionn: 1 } },
      template: {
        spec: {
          containers: [
            { name: 'a', foo: 1 },
            { name: 'b', env: [{ nme: 'x' }] },
          ],
        },
      },
      foo: null,
    },
    extra: true,
  };
  const decoded = statefulSetRow.decode(typo);
  assert.deepEqual(decoded.unknown, [
    'spec.updateStrategy.rollingUpdate.partitionn',
    'spec.template.spec.containers[0].foo',
    'spec.template.spec.containers[1].env[0].nme',
    'spec.foo',
    'extra',
  ]);
  assert.deepEqual(decoded.object, {
    ...set,
    spec: {
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: {} },
      template: { spec: { containers: [{ name: 'a' }, { name: 'b', env: [{}] }] } },
    },
  });
});

test('decode() drops null, empty lists and maps, and zero values that are not pointers', () => {
  const pod: JsonObject = {
    metadata: {
      name: 'a',
      creationTimestamp: null,
      labels: {},
      finalizers: [],
      managedFields: [{}],
    },
    spec: {
      containers: [],
      hostNetwork: false,
      nodeName: '',
      tolerations: null,
      securityContext: {},
      automountServiceAccountToken: false,
      activeDeadlineSeconds: 0,
    },
  };
  assert.deepEqual(podRow.decode(pod), {
    object: {
      metadata: { name: 'a' },
      spec: {
        containers: [],
        securityContext: {},
        automountServiceAccountToken: false,
        activeDeadlineSeconds: 0,
      },
    },
    unknown: [],
  });
});

test('decode() reads null in a map of strings as the empty string', () => {
  const decoded = podRow.decode({ metadata: { name: 'a', labels: { x: null } } });
  assert.deepEqual(decoded.object, { metadata: { name: 'a', labels: { x: '' } } });
});

test('decode() stores quantities in canonical form', () => {
  const resources = { requests: { cpu: 0.5, memory: '1024Mi' } };
  const decoded = podRow.decode({ spec: { containers: [{ name: 'a', resources }] } });
  assert.deepEqual(decoded.object, {
    spec: { containers: [{ name: 'a', resources: { requests: { cpu: '500m', memory: '1Gi' } } }] },
  });
});

const mismatches: Record<string, { object: JsonObject; message: string }> = {
  'a string for a number': {
    object: { spec: { replicas: '3' } },
    message:
      'StatefulSet in version "v1" cannot be handled as a StatefulSet: json: cannot unmarshal string into field spec.replicas of type integer',
  },
  'a fraction for an integer': {
    object: { spec: { replicas: 1.5 } },
    message:
      'StatefulSet in version "v1" cannot be handled as a StatefulSet: json: cannot unmarshal number into field spec.replicas of type integer',
  },
  'a list for an object': {
    object: { spec: [] },
    message:
      'StatefulSet in version "v1" cannot be handled as a StatefulSet: json: cannot unmarshal array into field spec of type object',
  },
  'an object for a list': {
    object: { spec: { template: { spec: { containers: {} } } } },
    message:
      'StatefulSet in version "v1" cannot be handled as a StatefulSet: json: cannot unmarshal object into field spec.template.spec.containers of type array',
  },
  'text for a time': {
    object: { metadata: { creationTimestamp: 'now' } },
    message:
      'StatefulSet in version "v1" cannot be handled as a StatefulSet: json: cannot unmarshal string into field metadata.creationTimestamp of type RFC 3339 time',
  },
};
for (const [fact, { object, message }] of Object.entries(mismatches)) {
  test(`decode() refuses ${fact} with 400`, () => {
    assert.throws(() => statefulSetRow.decode(object), { code: 400, message });
  });
}

test('decode() refuses data of a Secret that are not base64', () => {
  const row = resourceTable.find(({ singular }) => singular === 'secret');
  assert.deepEqual(row?.decode({ data: { a: 'eA==', b: '' } }).unknown, []);
  assert.throws(() => row?.decode({ data: { a: 'plain text' } }), {
    code: 400,
    message:
      'Secret in version "v1" cannot be handled as a Secret: json: cannot unmarshal string into field data.a of type base64 bytes',
  });
});

test('decode() keeps a member named like one of the prototype out, and lists it', () => {
  const object = JSON.parse('{"spec":{"__proto__":{"a":1},"constructor":1}}') as JsonObject;
  const decoded = podRow.decode(object);
  assert.deepEqual(decoded.unknown, ['spec.__proto__', 'spec.constructor']);
  assert.deepEqual(decoded.object, { spec: {} });
});

test('decode() knows apiVersion, kind and metadata of every served kind', () => {
  const object = { apiVersion: 'x', kind: 'y', metadata: { name: 'a' } };
  for (const row of resourceTable) assert.deepEqual(row.decode(object).unknown, [], row.singular);
});
