import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { JsonValue } from '#base/json.ts';
import { applyJsonMergePatch } from './json-merge-patch.ts';

// The test cases of RFC 7386, appendix A.
const cases: readonly (readonly [original: JsonValue, patch: JsonValue, result: JsonValue])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];
for (const [original, patch, result] of cases) {
  test(`applyJsonMergePatch() of ${JSON.stringify(patch)} to ${JSON.stringify(original)} gives ${JSON.stringify(result)}`, () => {
    assert.deepEqual(applyJsonMergePatch(original, patch), result);
  });
}

test('applyJsonMergePatch() changes nothing when applied twice', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (original, patch) => {
      const once = applyJsonMergePatch(original, patch);
      assert.deepEqual(applyJsonMergePatch(once, patch), once);
    }),
  );
});
