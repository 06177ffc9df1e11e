import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTimestamp } from './timestamp.ts';

const times: Record<string, string | undefined> = {
  '2026-01-31T12:00:00Z': '2026-01-31T12:00:00.000Z',
  '2026-01-31T12:00:00.25Z': '2026-01-31T12:00:00.250Z',
  '2026-01-31T12:00:00+02:00': '2026-01-31T10:00:00.000Z',
  '2024-02-29T00:00:00-00:30': '2024-02-29T00:30:00.000Z',
  '2026-02-29T00:00:00Z': undefined,
  '2026-13-01T00:00:00Z': undefined,
  '2026-01-31T24:00:00Z': undefined,
  '2026-01-31 12:00:00Z': undefined,
  '2026-01-31t12:00:00z': undefined,
  '2026-01-31T12:00:00': undefined,
  ' 2026-01-31T12:00:00Z': undefined,
  '1769860800': undefined,
  '': undefined,
};

for (const [text, want] of Object.entries(times)) {
  test(`parseTimestamp() reads ${JSON.stringify(text)} (IN-17)`, () => {
    const found = parseTimestamp(text, 'here');
    const seen = found.kind === 'valid' ? new Date(found.value).toISOString() : undefined;
    assert.equal(seen, want);
  });
}
