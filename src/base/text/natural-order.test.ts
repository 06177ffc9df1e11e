import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { compareNaturally } from './natural-order.ts';

const ordered: Record<string, readonly string[]> = {
  'sorts ordinals as integers': ['x-1', 'x-2', 'x-10'],
  'sorts across powers of ten': ['x-9', 'x-10', 'x-99', 'x-100'],
  'sorts by the first run that differs': ['a-10', 'b-1'],
  'sorts numbers in the middle of names': ['zone-2-pod-9', 'zone-10-pod-1'],
  'sorts the shorter list of runs first': ['x', 'x-1', 'x-1-a', 'x-1-a2'],
  'sorts the empty name first': ['', '0', 'a'],
  'compares whole runs and not characters': ['x0', 'x-', 'xa'],
  'sorts digit runs longer than any machine integer': [
    'x-99999999999999999999999999999998',
    'x-99999999999999999999999999999999',
    'x-100000000000000000000000000000000',
  ],
  'ignores leading zeros until all else is equal': ['x-01', 'x-1', 'x-02', 'x-3'],
  'looks past leading zeros for a later difference': ['x-1-a', 'x-01-b'],
};
for (const [fact, names] of Object.entries(ordered)) {
  test(`compareNaturally() ${fact}`, () => {
    assert.deepEqual(names.toReversed().sort(compareNaturally), names);
  });
}

test('compareNaturally() finds equal names equal', () => {
  assert.equal(compareNaturally('ingester-zone-a-10', 'ingester-zone-a-10'), 0);
});

const name = fc.string({
  unit: fc.constantFrom('0', '0', '1', '9', 'a', 'b', '-', '.'),
  maxLength: 8,
});

test('compareNaturally() is antisymmetric and equal only for equal names', () => {
  fc.assert(
    fc.property(name, name, (a, b) => {
      const forth = Math.sign(compareNaturally(a, b));
      assert.equal(forth + Math.sign(compareNaturally(b, a)), 0);
      assert.equal(forth === 0, a === b);
    }),
    { numRuns: 1_000 },
  );
});

test('compareNaturally() is transitive', () => {
  fc.assert(
    fc.property(name, name, name, (a, b, c) => {
      const [x = '', y = '', z = ''] = [a, b, c].sort(compareNaturally);
      assert.ok(compareNaturally(x, y) <= 0);
      assert.ok(compareNaturally(y, z) <= 0);
      assert.ok(compareNaturally(x, z) <= 0);
    }),
    { numRuns: 1_000 },
  );
});

test('compareNaturally() orders pods of one set by ordinal', () => {
  const ordinal = fc.nat({ max: 2_000_000_000 });
  fc.assert(
    fc.property(ordinal, ordinal, (a, b) => {
      assert.equal(Math.sign(compareNaturally(`s-${a}`, `s-${b}`)), Math.sign(a - b));
    }),
  );
});

/** The order of pods (RC-43) word by word: runs of digits as numbers, all else as text. */
function compareByRuns(left: string, right: string): number {
  const [a, b] = [left.match(/\d+|\D+/g) ?? [], right.match(/\d+|\D+/g) ?? []];
  for (const [index, x] of a.entries()) {
    const y = b[index];
    if (y === undefined) return 1;
    const areNumbers = /^\d/.test(x) && /^\d/.test(y);
    const [p, q] = areNumbers ? [BigInt(x), BigInt(y)] : [x, y];
    if (p !== q) return p < q ? -1 : 1;
  }
  return a.length - b.length;
}

test('compareNaturally() agrees with the rule applied run by run', () => {
  fc.assert(
    fc.property(name, name, name, (prefix, a, b) => {
      const [left, right] = [prefix + a, prefix + b];
      const want = Math.sign(compareByRuns(left, right));
      if (want !== 0) assert.equal(Math.sign(compareNaturally(left, right)), want);
    }),
    { numRuns: 5_000 },
  );
});
