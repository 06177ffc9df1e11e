import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis } from '#base/units.ts';
import { delaysAt, physicalLimit, restartOf } from './timing.ts';

test('restartOf() is 1.2 s for the demo, and a tenth of it at speed 10', () => {
  assert.equal(restartOf(delaysAt(1)), 1_200);
  assert.equal(restartOf(delaysAt(10)), 120);
});

const cases: Record<string, { zones: readonly (readonly [number, number])[]; want: number }> = {
  'is three zones times three waves': {
    zones: [
      [6, 2],
      [6, 2],
      [6, 2],
    ],
    want: 9_000,
  },
  'counts a wave that is not full as a whole one': { zones: [[7, 2]], want: 4_000 },
  'takes one wave where the limit exceeds the pods': { zones: [[2, 5]], want: 1_000 },
  'is nothing without zones': { zones: [], want: 0 },
};

for (const [fact, { zones, want }] of Object.entries(cases)) {
  test(`physicalLimit() ${fact}`, () => {
    const sizes = zones.map(([pods, limit]) => ({ pods, limit }));
    assert.equal(physicalLimit(sizes, millis(1_000)), want);
  });
}
