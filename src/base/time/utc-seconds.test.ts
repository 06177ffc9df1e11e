import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant } from '../units.ts';
import { formatUtcSeconds } from './utc-seconds.ts';

const cases: Record<string, readonly [at: number, text: string]> = {
  'a whole second as it is': [1_767_225_600_000, '2026-01-01T00:00:00Z'],
  'the next second for a part of one': [1_767_225_600_001, '2026-01-01T00:00:01Z'],
  'the next second for a part of a millisecond': [1_767_225_600_000.25, '2026-01-01T00:00:01Z'],
  'the farthest time for all beyond it': [1e18, '+275760-09-13T00:00:00Z'],
};

for (const [fact, [at, text]] of Object.entries(cases)) {
  test(`formatUtcSeconds() writes ${fact}`, () => {
    assert.equal(formatUtcSeconds(instant(at)), text);
  });
}
