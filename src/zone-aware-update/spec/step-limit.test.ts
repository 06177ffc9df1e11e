import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { capOf, limitOf, parseMostUnavailable } from './step-limit.ts';

describe('limitOf()', () => {
  // The reference values of the peer, by factor and cap, from step 0 on.
  const rows: readonly (readonly [factor: number, cap: number, limits: readonly number[]])[] = [
    [2, 10, [1, 2, 4, 8, 10, 10]],
    [1, 10, [1, 1, 1, 1]],
    [0, 10, [10, 10, 10]],
    [-0, 10, [10, 10]],
    [1.5, 1_000, [1, 1, 2, 3, 5, 7, 11, 17, 25, 38]],
    [3, 1_000, [1, 3, 9, 27, 81, 243, 729, 1_000]],
    [1.1, 1_000, [1, 1, 1, 1, 1, 1, 1, 1, 2]],
    [0.5, 10, [1, 0, 0, 0]],
    [-2, 10, [1, -2, 4, -8, 10]],
    [Infinity, 10, [1, 10, 10]],
    [Number.NaN, 10, [1, 0, 0]],
    [2, 0, [0, 0]],
    [2, -3, [-3, -3]],
  ];
  for (const [factor, cap, limits] of rows) {
    test(`[zau 30] limitOf() grows by ${factor} up to ${cap}`, () => {
      assert.deepEqual(
        limits.map((_, step) => limitOf(factor, step, cap)),
        limits,
      );
    });
  }

  test('[zau 30] limitOf() overflows nowhere', () => {
    assert.deepEqual(
      [62, 63, 10_000].map((step) => limitOf(2, step, 10)),
      [10, 10, 10],
    );
    assert.equal(limitOf(2, 63, 2_147_483_647), 2_147_483_647);
  });
});

describe('capOf()', () => {
  const rows: readonly (readonly [percent: number, replicas: number, want: number])[] = [
    [33, 30, 10],
    [34, 30, 11],
    [30, 30, 9],
    [33, 9, 3],
    [10, 25, 3],
    [10, 9, 1],
    [1, 3, 1],
    [0, 9, 0],
    [33, 0, 0],
    [150, 4, 6],
  ];
  for (const [percent, replicas, want] of rows) {
    test(`[zau 33] capOf() takes ${percent} % of ${replicas} for ${want}`, () => {
      assert.equal(capOf({ kind: 'percent', percent }, replicas), want);
    });
  }
});

describe('parseMostUnavailable()', () => {
  const read: readonly (readonly [unknown, unknown])[] = [
    [2, { kind: 'count', count: 2 }],
    [-1, { kind: 'count', count: -1 }],
    ['33%', { kind: 'percent', percent: 33 }],
    ['+33%', { kind: 'percent', percent: 33 }],
    ['033%', { kind: 'percent', percent: 33 }],
    ['-5%', { kind: 'percent', percent: -5 }],
  ];
  for (const [value, want] of read) {
    test(`parseMostUnavailable() reads ${JSON.stringify(value)}`, () => {
      assert.deepEqual(parseMostUnavailable(value, 'x'), { kind: 'valid', value: want });
    });
  }

  for (const value of [
    undefined,
    '2',
    '33.5%',
    ' 33%',
    '3_3%',
    '%',
    '',
    2_147_483_648,
    1.5,
    true,
  ]) {
    test(`[zau 34] parseMostUnavailable() refuses ${JSON.stringify(value)}`, () => {
      const parsed = parseMostUnavailable(value, 'spec.maxUnavailable');
      assert.ok(parsed.kind === 'invalid');
      const got = value === undefined ? 'nothing' : JSON.stringify(value);
      assert.equal(
        `${parsed.problem.path} ${parsed.problem.message}`,
        `spec.maxUnavailable must be an integer from -2147483648 to 2147483647, or a percentage such as "10%": got ${got}`,
      );
    });
  }
});
