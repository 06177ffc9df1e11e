import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownZones } from './shown-zones.ts';

function zones(count: number): readonly (readonly [string, number])[] {
  return Array.from({ length: count }, (_, at) => [`z${String(at).padStart(5, '0')}`, 2] as const);
}

test('shownZones() leaves 100 zones as they are', () => {
  const counts = new Map(zones(100));
  assert.equal(shownZones(counts), counts);
});

test('shownZones() sums what is beyond 100 zones as other, in whatever order they come', () => {
  const want = { ...Object.fromEntries(zones(100)), other: 4 };
  for (const given of [zones(102), zones(102).toReversed()]) {
    assert.deepEqual(Object.fromEntries(shownZones(new Map(given))), want);
  }
});

test('shownZones() shows no name that is too long, and keeps what a zone called other has', () => {
  const given = new Map([
    ['z'.repeat(257), 3],
    ['other', 1],
    ['a', 2],
  ]);
  assert.deepEqual(Object.fromEntries(shownZones(given)), { other: 4, a: 2 });
});
