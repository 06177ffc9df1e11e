import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { instant } from '#base/units.ts';
import { formatRfc3339, parseRfc3339 } from './rfc3339.ts';

const cases: Record<string, { text: string; want: number }> = {
  'the epoch': { text: '1970-01-01T00:00:00Z', want: 0 },
  'a new year': { text: '2026-01-01T00:00:00Z', want: 1_767_225_600_000 },
  'a leap day': { text: '2024-02-29T12:30:45Z', want: 1_709_209_845_000 },
  'the end of a century without a leap day': {
    text: '2100-03-01T00:00:00Z',
    want: 4_107_542_400_000,
  },
};

for (const [fact, { text, want }] of Object.entries(cases)) {
  test(`parseRfc3339() reads ${fact}`, () => {
    assert.equal(parseRfc3339(text), want);
  });
  test(`formatRfc3339() writes ${fact}`, () => {
    assert.equal(formatRfc3339(instant(want)), text);
  });
}

test('parseRfc3339() keeps milliseconds', () => {
  assert.equal(parseRfc3339('1970-01-01T00:00:01.250Z'), 1_250);
});

test('parseRfc3339() refuses other texts', () => {
  assert.equal(parseRfc3339('yesterday'), undefined);
});

test('parseRfc3339() undoes formatRfc3339() for each second of four centuries', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 12_622_780_800 }), (second) => {
      const at = instant(second * 1_000);
      assert.equal(parseRfc3339(formatRfc3339(at)), at);
    }),
  );
});
