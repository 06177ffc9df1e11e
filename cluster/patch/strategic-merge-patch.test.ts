import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { JsonObject } from '#base/json.ts';
import { StatusError } from '../errors/status-error.ts';
import { podRow } from '../resource/pod-row.ts';
import { statefulSetRow } from '../resource/workload-rows.ts';
import type { ListMerge } from '../resource-row.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

const mergeOf: Readonly<Record<string, ListMerge>> = {
  items: { kind: 'by-key', key: 'name' },
  'items.env': { kind: 'by-key', key: 'name' },
  ports: { kind: 'by-key', key: 'port' },
  words: { kind: 'set' },
  selector: { kind: 'replace' },
};

function merged(object: JsonObject, patch: JsonObject): JsonObject {
  return applyStrategicMergePatch(object, patch, (path) => mergeOf[path]);
}

function named(...names: string[]): JsonObject[] {
  return names.map((name) => ({ name }));
}

const cases: Record<string, { object: JsonObject; patch: JsonObject; want: JsonObject }> = {
  'merges maps and deletes members that are null': {
    object: { a: { b: 1, c: 2 } },
    patch: { a: { b: null, d: 3 } },
    want: { a: { c: 2, d: 3 } },
  },
  'merges an element by its key': {
    object: { items: [{ name: 'a', v: 1 }, { name: 'b' }] },
    patch: { items: [{ name: 'a', w: 2 }] },
    want: { items: [{ name: 'a', v: 1, w: 2 }, { name: 'b' }] },
  },
  'puts an element that is new first when no order is given, as upstream': {
    object: { items: named('a') },
    patch: { items: named('b') },
    want: { items: named('b', 'a') },
  },
  'merges lists within elements': {
    object: { items: [{ name: 'a', env: [{ name: 'X', value: '1' }, { name: 'Y' }] }] },
    patch: { items: [{ name: 'a', env: [{ name: 'X', value: '2' }] }] },
    want: { items: [{ name: 'a', env: [{ name: 'X', value: '2' }, { name: 'Y' }] }] },
  },
  'removes an element with $patch: delete': {
    object: { items: named('a', 'b') },
    patch: { items: [{ name: 'a', $patch: 'delete' }] },
    want: { items: named('b') },
  },
  'leaves the list alone when the element to delete is not there': {
    object: { items: named('a') },
    patch: { items: [{ name: 'z', $patch: 'delete' }] },
    want: { items: named('a') },
  },
  'replaces a list with $patch: replace': {
    object: { items: named('a', 'b') },
    patch: { items: [{ name: 'c' }, { $patch: 'replace' }] },
    want: { items: named('c') },
  },
  'replaces a list with $patch: replace by elements of one key, as they stand': {
    object: { items: [{ name: 'a' }] },
    patch: { items: [{ name: 'c', x: 1 }, { name: 'c', x: 2 }, { $patch: 'replace' }] },
    want: {
      items: [
        { name: 'c', x: 1 },
        { name: 'c', x: 2 },
      ],
    },
  },
  'replaces a map with $patch: replace': {
    object: { a: { b: 1 } },
    patch: { a: { $patch: 'replace', c: 2 } },
    want: { a: { c: 2 } },
  },
  'empties a map with $patch: delete': {
    object: { a: { b: 1 } },
    patch: { a: { $patch: 'delete' } },
    want: { a: {} },
  },
  'replaces a list without merge rule': {
    object: { tolerations: [{ key: 'a' }] },
    patch: { tolerations: [{ key: 'b' }] },
    want: { tolerations: [{ key: 'b' }] },
  },
  'replaces a map that does not merge': {
    object: { selector: { matchLabels: { a: '1' } } },
    patch: { selector: { matchLabels: { b: '2' } } },
    want: { selector: { matchLabels: { b: '2' } } },
  },
  'unites sets': {
    object: { words: ['a', 'b'] },
    patch: { words: ['b', 'c'] },
    want: { words: ['a', 'b', 'c'] },
  },
  'takes elements out with $deleteFromPrimitiveList': {
    object: { words: ['a', 'b', 'c'] },
    patch: { '$deleteFromPrimitiveList/words': ['b'] },
    want: { words: ['a', 'c'] },
  },
  'adds to a set and takes out in one patch': {
    object: { words: ['a', 'b'] },
    patch: {
      '$deleteFromPrimitiveList/words': ['a'],
      '$setElementOrder/words': ['c', 'b'],
      words: ['c'],
    },
    want: { words: ['c', 'b'] },
  },
  'orders elements as $setElementOrder says': {
    object: { items: named('a', 'b', 'c') },
    patch: { '$setElementOrder/items': named('c', 'a', 'b') },
    want: { items: named('c', 'a', 'b') },
  },
  'puts a new element where $setElementOrder says': {
    object: { items: named('a', 'c') },
    patch: { '$setElementOrder/items': named('a', 'b', 'c'), items: named('b') },
    want: { items: named('a', 'b', 'c') },
  },
  'keeps an element that only the server knows next to its neighbours': {
    object: { items: named('a', 'server', 'b') },
    patch: { '$setElementOrder/items': named('a', 'new', 'b'), items: named('new') },
    want: { items: named('a', 'new', 'server', 'b') },
  },
  'keeps only the members that $retainKeys names': {
    object: { a: { x: 1, y: 2 } },
    patch: { a: { $retainKeys: ['y', 'z'], z: 3 } },
    want: { a: { y: 2, z: 3 } },
  },
  'adds a map without its directives and nulls': {
    object: {},
    patch: { a: { $retainKeys: ['b'], b: 1, c: null }, items: [{ $patch: 'delete', name: 'a' }] },
    want: { a: { b: 1 }, items: [] },
  },
  'keeps two ports of one number in a list that is new': {
    object: {},
    patch: {
      ports: [
        { port: 53, protocol: 'TCP' },
        { port: 53, protocol: 'UDP' },
      ],
    },
    want: {
      ports: [
        { port: 53, protocol: 'TCP' },
        { port: 53, protocol: 'UDP' },
      ],
    },
  },
  'merges two ports of one number wrongly, as upstream does': {
    object: { ports: [{ port: 53, protocol: 'TCP' }] },
    patch: { ports: [{ port: 53, protocol: 'UDP' }] },
    want: { ports: [{ port: 53, protocol: 'UDP' }] },
  },
};
for (const [fact, { object, patch, want }] of Object.entries(cases)) {
  test(`[cluster 25] applyStrategicMergePatch() ${fact}`, () => {
    assert.deepEqual(merged(object, patch), want);
  });
}

const refused: Record<string, { patch: JsonObject; code: number }> = {
  'an element without merge key': { patch: { items: [{ v: 1 }] }, code: 400 },
  'an order that is no list': { patch: { '$setElementOrder/items': 'a' }, code: 400 },
  'a patch list in another order than $setElementOrder': {
    patch: { '$setElementOrder/items': named('a', 'b'), items: named('b', 'a') },
    code: 400,
  },
  'a member that $retainKeys does not name': { patch: { $retainKeys: ['x'], y: 1 }, code: 400 },
  'an unknown $patch': { patch: { $patch: 'bogus' }, code: 422 },
  'an unknown $patch in a list': { patch: { items: [{ name: 'a', $patch: 'x' }] }, code: 422 },
};
for (const [fact, { patch, code }] of Object.entries(refused)) {
  test(`applyStrategicMergePatch() refuses ${fact} with ${code}`, () => {
    assert.throws(
      () => merged({ items: named('a', 'b') }, patch),
      (error) => error instanceof StatusError && error.code === code,
    );
  });
}

test('applyStrategicMergePatch() takes __proto__ for a plain member', () => {
  const patch = JSON.parse('{"a":{"__proto__":{"x":1}},"__proto__":{"y":2}}') as JsonObject;
  const result = merged({ a: { b: 1 } }, patch);
  assert.equal(JSON.stringify(result), '{"a":{"b":1,"__proto__":{"x":1}},"__proto__":{"y":2}}');
  assert.equal('y' in result, false);
});

test('[cluster 25] a pod merges env of a container by name and owner references by uid', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u1' };
  const pod = {
    metadata: { name: 'web-0', ownerReferences: [owner] },
    spec: {
      containers: [
        { name: 'main', image: 'a:1', env: [{ name: 'A', value: '1' }] },
        { name: 'side', image: 'b:1' },
      ],
      tolerations: [{ key: 'x' }],
    },
  };
  const patch = {
    metadata: { ownerReferences: [{ uid: 'u1', controller: true }] },
    spec: {
      containers: [{ name: 'main', env: [{ name: 'B', value: '2' }] }],
      tolerations: [{ key: 'y' }],
    },
  };
  const mergeAt = podRow.listMerge ?? (() => undefined);
  assert.deepEqual(applyStrategicMergePatch(pod, patch, mergeAt), {
    metadata: { name: 'web-0', ownerReferences: [{ ...owner, controller: true }] },
    spec: {
      containers: [
        {
          name: 'main',
          image: 'a:1',
          env: [
            { name: 'B', value: '2' },
            { name: 'A', value: '1' },
          ],
        },
        { name: 'side', image: 'b:1' },
      ],
      tolerations: [{ key: 'y' }],
    },
  });
});

test('[cluster 25] a StatefulSet changes the image of one container of its template', () => {
  const containers = [
    { name: 'main', image: 'a:1', ports: [{ containerPort: 80 }] },
    { name: 'side', image: 'b:1' },
  ];
  const set = { spec: { template: { spec: { containers } } } };
  const patch = { spec: { template: { spec: { containers: [{ name: 'main', image: 'a:2' }] } } } };
  const mergeAt = statefulSetRow.listMerge ?? (() => undefined);
  assert.deepEqual(applyStrategicMergePatch(set, patch, mergeAt), {
    spec: {
      template: {
        spec: {
          containers: [
            { name: 'main', image: 'a:2', ports: [{ containerPort: 80 }] },
            { name: 'side', image: 'b:1' },
          ],
        },
      },
    },
  });
});

const element = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), v: fc.integer() });
const elements = fc.uniqueArray(element, { selector: ({ name }) => name });
const words = fc.uniqueArray(fc.constantFrom('p', 'q', 'r', 's'));

test('applyStrategicMergePatch() changes nothing when applied twice', () => {
  const object = fc.record({ items: elements, words, map: fc.dictionary(fc.string(), fc.nat()) });
  fc.assert(
    fc.property(object, object, (live, patch) => {
      const once = merged(live, patch);
      assert.deepEqual(merged(once, patch), once);
    }),
  );
});

test('applyStrategicMergePatch() keeps every element that the patch does not delete', () => {
  fc.assert(
    fc.property(elements, elements, (live, patch) => {
      const { items } = merged({ items: live }, { items: patch });
      const names = (items as { name: string }[]).map(({ name }) => name);
      assert.deepEqual(
        names.toSorted(),
        [...new Set([...live, ...patch].map(({ name }) => name))].toSorted(),
      );
    }),
  );
});
