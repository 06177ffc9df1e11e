import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { JsonValue } from '#base/json.ts';
import { StatusError } from '../errors/status-error.ts';
import { applyJsonPatch } from './json-patch.ts';

interface Applied {
  readonly document: JsonValue;
  readonly patch: JsonValue;
  readonly want: JsonValue;
}

// The examples of RFC 6902, appendix A.
const applied: Record<string, Applied> = {
  'adds an object member (A.1)': {
    document: { foo: 'bar' },
    patch: [{ op: 'add', path: '/baz', value: 'qux' }],
    want: { baz: 'qux', foo: 'bar' },
  },
  'adds an array element (A.2)': {
    document: { foo: ['bar', 'baz'] },
    patch: [{ op: 'add', path: '/foo/1', value: 'qux' }],
    want: { foo: ['bar', 'qux', 'baz'] },
  },
  'removes an object member (A.3)': {
    document: { baz: 'qux', foo: 'bar' },
    patch: [{ op: 'remove', path: '/baz' }],
    want: { foo: 'bar' },
  },
  'removes an array element (A.4)': {
    document: { foo: ['bar', 'qux', 'baz'] },
    patch: [{ op: 'remove', path: '/foo/1' }],
    want: { foo: ['bar', 'baz'] },
  },
  'replaces a value (A.5)': {
    document: { baz: 'qux', foo: 'bar' },
    patch: [{ op: 'replace', path: '/baz', value: 'boo' }],
    want: { baz: 'boo', foo: 'bar' },
  },
  'moves a value (A.6)': {
    document: { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } },
    patch: [{ op: 'move', from: '/foo/waldo', path: '/qux/thud' }],
    want: { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } },
  },
  'moves an array element (A.7)': {
    document: { foo: ['all', 'grass', 'cows', 'eat'] },
    patch: [{ op: 'move', from: '/foo/1', path: '/foo/3' }],
    want: { foo: ['all', 'cows', 'eat', 'grass'] },
  },
  'goes on after a test that holds (A.8)': {
    document: { baz: 'qux', foo: ['a', 2, 'c'] },
    patch: [
      { op: 'test', path: '/baz', value: 'qux' },
      { op: 'test', path: '/foo/1', value: 2 },
    ],
    want: { baz: 'qux', foo: ['a', 2, 'c'] },
  },
  'adds a nested member object (A.10)': {
    document: { foo: 'bar' },
    patch: [{ op: 'add', path: '/child', value: { grandchild: {} } }],
    want: { foo: 'bar', child: { grandchild: {} } },
  },
  'ignores unrecognized members (A.11)': {
    document: { foo: 'bar' },
    patch: [{ op: 'add', path: '/baz', value: 'qux', xyz: 123 }],
    want: { foo: 'bar', baz: 'qux' },
  },
  'unescapes ~01 as ~1 (A.14)': {
    document: { '/': 9, '~1': 10 },
    patch: [{ op: 'test', path: '/~01', value: 10 }],
    want: { '/': 9, '~1': 10 },
  },
  'adds an array value at the end (A.16)': {
    document: { foo: ['bar'] },
    patch: [{ op: 'add', path: '/foo/-', value: ['abc', 'def'] }],
    want: { foo: ['bar', ['abc', 'def']] },
  },
  'copies a value': {
    document: { a: { b: 1 } },
    patch: [{ op: 'copy', from: '/a', path: '/c' }],
    want: { a: { b: 1 }, c: { b: 1 } },
  },
  'reaches an annotation through ~1': {
    document: { metadata: { annotations: { 'a/b': '1' } } },
    patch: [{ op: 'replace', path: '/metadata/annotations/a~1b', value: '2' }],
    want: { metadata: { annotations: { 'a/b': '2' } } },
  },
  'lets a test for null hold on an absent member': {
    document: { a: 1 },
    patch: [{ op: 'test', path: '/b', value: null }],
    want: { a: 1 },
  },
};
for (const [fact, { document, patch, want }] of Object.entries(applied)) {
  test(`applyJsonPatch() ${fact}`, () => {
    assert.deepEqual(applyJsonPatch(document, patch), want);
  });
}

const refused: Record<string, { document: JsonValue; patch: JsonValue; code: number }> = {
  'refuses a test that fails (A.9)': {
    document: { baz: 'qux' },
    patch: [{ op: 'test', path: '/baz', value: 'bar' }],
    code: 422,
  },
  'refuses to add to a missing parent (A.12)': {
    document: { foo: 'bar' },
    patch: [{ op: 'add', path: '/baz/bat', value: 'qux' }],
    code: 422,
  },
  'refuses to compare a string with a number (A.15)': {
    document: { '/': 9, '~1': 10 },
    patch: [{ op: 'test', path: '/~01', value: '10' }],
    code: 422,
  },
  'refuses to remove what is not there': {
    document: { a: 1 },
    patch: [{ op: 'remove', path: '/b' }],
    code: 422,
  },
  'refuses to replace what is not there': {
    document: { a: 1 },
    patch: [{ op: 'replace', path: '/b', value: 1 }],
    code: 422,
  },
  'refuses an index beyond the end': {
    document: { a: [1] },
    patch: [{ op: 'add', path: '/a/2', value: 1 }],
    code: 422,
  },
  'refuses an index with a leading zero': {
    document: { a: [1, 2] },
    patch: [{ op: 'remove', path: '/a/01' }],
    code: 422,
  },
  'refuses an unknown operation': { document: {}, patch: [{ op: 'merge', path: '/a' }], code: 422 },
  'refuses an operation without value': {
    document: {},
    patch: [{ op: 'add', path: '/a' }],
    code: 422,
  },
  'refuses to move a value into itself': {
    document: { a: { b: {} } },
    patch: [{ op: 'move', from: '/a', path: '/a/b/c' }],
    code: 422,
  },
  'refuses a patch that is no list': { document: {}, patch: { op: 'add' }, code: 400 },
  'refuses 10,001 operations': {
    document: { a: 1 },
    patch: Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/a', value: 1 })),
    code: 413,
  },
};
for (const [fact, { document, patch, code }] of Object.entries(refused)) {
  test(`[cluster 24] applyJsonPatch() ${fact} with ${code}`, () => {
    assert.throws(
      () => applyJsonPatch(document, patch),
      (error) => error instanceof StatusError && error.code === code,
    );
  });
}

test('applyJsonPatch() leaves the document as it was', () => {
  const document = Object.freeze({ list: Object.freeze([1, 2]), map: Object.freeze({ a: 1 }) });
  applyJsonPatch(document, [
    { op: 'add', path: '/list/0', value: 0 },
    { op: 'remove', path: '/map/a' },
  ]);
  assert.deepEqual(document, { list: [1, 2], map: { a: 1 } });
});

test('applyJsonPatch() gives the document back after an add and its removal', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (members, value) => {
      const document = JSON.parse(JSON.stringify(members)) as JsonValue;
      const path = '/added-by-the-test';
      const patch = [
        { op: 'add', path, value: value as JsonValue },
        { op: 'remove', path },
      ];
      assert.deepEqual(applyJsonPatch(document, patch), document);
    }),
  );
});
