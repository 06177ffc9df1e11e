import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import {
  array,
  assert as assertProperty,
  constant,
  constantFrom,
  dictionary,
  jsonValue,
  oneof,
  property,
  record,
  string,
} from 'fast-check';
import { withoutSpec, withoutSpecButNode } from './without-spec.ts';

function parsed(value: unknown): unknown {
  return JSON.parse(withoutSpec(Buffer.from(JSON.stringify(value))));
}

const marks = '"spec":{ ,"status":{ \\"spec\\":{ }} é漢';

test('withoutSpec() leaves metadata and status, and null in place of the spec', () => {
  const object = {
    kind: 'Pod',
    metadata: { name: 'a-0', labels: { spec: 'x', status: 'y' } },
    spec: { containers: [{ name: 'main', env: [{ name: 'A', value: marks }] }] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  };
  assert.deepEqual(parsed({ type: 'ADDED', object }), {
    type: 'ADDED',
    object: { ...object, spec: null },
  });
});

test('withoutSpec() leaves out the managed fields where they are the last of the metadata', () => {
  const managedFields = [{ manager: 'x', fieldsV1: { 'f:spec': { 'k:{"name":"a"}': {} } } }];
  const rest = { spec: { containers: [] }, status: { phase: 'Running' } };
  const metadata = {
    name: 'a-0',
    uid: 'u',
    deletionTimestamp: 't',
    ownerReferences: [{ uid: 'o' }],
  };
  const shown = (given: object): unknown =>
    parsed({ type: 'ADDED', object: { metadata: given, ...rest } });
  const wanted = (given: object): unknown => ({
    type: 'ADDED',
    object: { metadata: given, spec: null, status: { phase: 'Running' } },
  });
  assert.deepEqual(shown({ ...metadata, managedFields }), wanted(metadata));
  const sorted = { managedFields, ...metadata };
  assert.deepEqual(shown(sorted), wanted(sorted));
  const followed = { uid: 'u', managedFields, name: 'a-0' };
  assert.deepEqual(shown(followed), wanted(followed));
});

test('withoutSpec() leaves out annotations, whatever is in their texts', () => {
  const hard = [
    '',
    '"}',
    'ends with \\\\',
    'ends with "',
    '\\\\"},"ownerReferences":[{"uid":"x"}]',
    'é漢',
  ];
  for (const text of hard) {
    const rest = { ownerReferences: [{ uid: 'o', controller: true }] };
    const metadata = {
      name: 'a-0',
      labels: { a: text },
      annotations: { a: text, b: text },
      ...rest,
    };
    const { annotations, ...shown } = metadata;
    const object = { metadata, spec: {}, status: { phase: 'Running' } };
    assert.deepEqual(parsed({ type: 'ADDED', object }), {
      type: 'ADDED',
      object: { ...object, metadata: shown, spec: null },
    });
    assert.ok(annotations.a === text);
  }
});

test('withoutSpec() leaves the mark that ends a streaming list', () => {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  const metadata = { resourceVersion: '7', creationTimestamp: null, annotations };
  const object = { kind: 'Pod', metadata, spec: { containers: null }, status: {} };
  assert.deepEqual(parsed({ type: 'BOOKMARK', object }), {
    type: 'BOOKMARK',
    object: { ...object, spec: null },
  });
});

const wholes: Record<string, unknown> = {
  'a status alone': { type: 'ERROR', object: { kind: 'Status', status: 'Failure', code: 410 } },
  'an object without a status': { type: 'ADDED', object: { metadata: {}, spec: { a: 1 } } },
  'an object whose status comes first': {
    type: 'ADDED',
    object: { metadata: {}, status: { a: 1 }, spec: { a: 1 } },
  },
  'text that looks like both marks': { type: 'ADDED', object: { metadata: { name: marks } } },
};

for (const [what, value] of Object.entries(wholes)) {
  test(`withoutSpec() leaves ${what} as it is`, () => {
    assert.deepEqual(parsed(value), value);
  });
}

for (const annotations of [
  { a: '}' },
  { a: '},"spec":{' },
  { a: '}', b: 'x' },
  { a: '', b: '}' },
  { '}': '' },
  { a: '\\"}', b: '\\' },
  { a: ':"', b: ',"}' },
]) {
  test(`withoutSpec() sees the end of the annotations ${JSON.stringify(annotations)}`, () => {
    const object = { metadata: { name: 'a', annotations }, spec: { b: 1 }, status: { c: 1 } };
    assert.deepEqual(parsed({ type: 'MODIFIED', object }), {
      type: 'MODIFIED',
      object: { metadata: { name: 'a' }, spec: null, status: { c: 1 } },
    });
  });
}

test('withoutSpec() changes nothing but the spec of any pod', () => {
  // Characters of JSON itself come up too rarely by chance.
  const text = oneof(
    string({ unit: 'grapheme' }),
    string({ unit: constantFrom('"', '}', '{', ',', ':', '\\', 'a'), maxLength: 5 }),
    constant(marks),
  );
  const map = dictionary(text, text);
  const json = jsonValue({ maxDepth: 3 });
  const pod = record({
    kind: constant('Pod'),
    metadata: record({ name: text, labels: map, annotations: map }),
    spec: record({ containers: array(json), volumes: json }),
    status: record({
      phase: text,
      conditions: array(record({ type: text, status: text })),
    }),
  });
  assertProperty(
    property(pod, (object) => {
      const whole = JSON.parse(JSON.stringify({ type: 'MODIFIED', object })) as typeof object;
      const { metadata, ...others } = (whole as unknown as { object: typeof object }).object;
      const { annotations, ...kept } = metadata;
      const isEmpty = Object.keys(annotations).length === 0;
      const wanted = {
        ...whole,
        object: { ...others, metadata: isEmpty ? metadata : kept, spec: null },
      };
      assert.deepEqual(parsed(whole), wanted);
    }),
  );
});

/** What is left of a pod with this `spec`, as JSON or as the text of that. */
function specLeft(spec: object | string): unknown {
  const text = typeof spec === 'string' ? spec : JSON.stringify(spec);
  const pod = `{"object":{"metadata":{"name":"a-0"},"spec":${text},"status":{"phase":"Running"}}}`;
  const left = JSON.parse(withoutSpecButNode(Buffer.from(pod))) as { object: { spec: unknown } };
  return left.object.spec;
}

const ofNodes: Record<string, { readonly spec: object | string; readonly left: unknown }> = {
  'the name of its node': {
    spec: { containers: [{ name: 'main' }], nodeName: 'node-1', hostNetwork: true },
    left: { nodeName: 'node-1' },
  },
  'the name of its node where that is all there is': {
    spec: { nodeName: 'node-1' },
    left: { nodeName: 'node-1' },
  },
  'null where it has no node yet': { spec: { containers: [] }, left: null },
  'null where only what is deeper has such a member': {
    spec: { nodeSelector: { nodeName: 'node-2' }, list: [{ nodeName: 'node-3' }] },
    left: null,
  },
  'its own among those that are deeper': {
    spec: {
      nodeSelector: { a: 'b', nodeName: 'node-2' },
      nodeName: 'node-1',
      affinity: { matchLabels: { nodeName: 'node-3' } },
    },
    left: { nodeName: 'node-1' },
  },
  'its own, whatever texts hold': {
    spec: { text: '"nodeName":"node-2",{[\\', '}]': 'nodeName', nodeName: 'n\u00e9\\"1' },
    left: { nodeName: 'n\u00e9\\"1' },
  },
  'null where a member of that name is no text': { spec: { nodeName: null }, left: null },
};
for (const [fact, { spec, left }] of Object.entries(ofNodes)) {
  test(`withoutSpecButNode() leaves ${fact}`, () => {
    assert.deepEqual(specLeft(spec), left);
  });
}

test('withoutSpecButNode() leaves of any pod what a parser finds', () => {
  const names = constantFrom('nodeName', 'name', '}', '{', 'a"b');
  const specs = dictionary(names, oneof(string(), dictionary(names, jsonValue()), jsonValue()));
  assertProperty(
    property(specs, (spec) => {
      const nodeName: unknown = Object.hasOwn(spec, 'nodeName') ? spec['nodeName'] : undefined;
      assert.deepEqual(specLeft(spec), typeof nodeName === 'string' ? { nodeName } : null);
    }),
    { numRuns: 500 },
  );
});
