import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { cleanTarget } from './clean-path.ts';

const cases: Record<string, readonly [target: string, want: string | undefined]> = {
  'leaves a clean path alone': ['/ready', undefined],
  'leaves the root alone': ['/', undefined],
  'leaves a trailing slash alone': ['/ready/', undefined],
  'leaves dots within a segment alone': ['/a.b/..c', undefined],
  'leaves slashes in the query alone': ['/ready?a=//b', undefined],
  'leaves a target alone that is no path': ['*', undefined],
  'removes an empty segment': ['/a//b', '/a/b'],
  'removes a dot segment': ['/a/./b', '/a/b'],
  'removes the parent of two dots': ['/a/../b', '/b'],
  'stays at the root': ['/../..', '/'],
  'keeps one trailing slash': ['/a//', '/a/'],
  'keeps the query': ['//a?b=//c', '/a?b=//c'],
  'leads to no other host by a backslash': ['//\\host', '/%5Chost'],
};
for (const [fact, [target, want]] of Object.entries(cases)) {
  test(`cleanTarget() ${fact} (ME-34)`, () => {
    assert.equal(cleanTarget(target), want);
  });
}

test('cleanTarget() never redirects twice, nor to another host', () => {
  const part = fc.constantFrom('/', '/', '.', '..', 'a', '\\', '?', '%2f');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const cleaned = cleanTarget(`/${parts.join('')}`);
      if (cleaned === undefined) return;
      assert.match(cleaned, /^\/(?![/\\])/);
      assert.equal(cleanTarget(cleaned), undefined);
    }),
    { numRuns: 1_000 },
  );
});
