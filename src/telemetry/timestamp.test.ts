import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { instant } from '#base/units.ts';
import { formatTimestamp } from './timestamp.ts';

const cases: Record<string, readonly [milliseconds: number, text: string]> = {
  'prints the epoch': [0, '1970-01-01T00:00:00Z'],
  'leaves out a fraction of zero': [1_767_323_045_000, '2026-01-02T03:04:05Z'],
  'prints milliseconds': [1_767_323_045_123, '2026-01-02T03:04:05.123Z'],
  'removes trailing zeros': [1_767_323_045_120, '2026-01-02T03:04:05.12Z'],
  'keeps leading zeros of the fraction': [1_767_323_045_007, '2026-01-02T03:04:05.007Z'],
  'prints half a millisecond': [1_767_323_045_007.5, '2026-01-02T03:04:05.0075Z'],
  'prints a leap day': [1_709_208_000_000, '2024-02-29T12:00:00Z'],
  'prints the last moment of a year': [1_798_761_599_999, '2026-12-31T23:59:59.999Z'],
  'prints times before the epoch': [-1, '1969-12-31T23:59:59.999Z'],
  'prints no leap day in 1900': [-2_203_891_200_000, '1900-03-01T00:00:00Z'],
};
for (const [fact, [time, want]] of Object.entries(cases)) {
  test(`formatTimestamp() ${fact} (LG-4)`, () => {
    assert.equal(formatTimestamp(instant(time)), want);
  });
}

test('formatTimestamp() agrees with the calendar of the platform', () => {
  fc.assert(
    fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }), (time) => {
      const platform = new Date(time).toISOString().replace(/\.?0*Z$/, 'Z');
      assert.equal(formatTimestamp(instant(time)), platform);
    }),
    { numRuns: 1_000 },
  );
});
