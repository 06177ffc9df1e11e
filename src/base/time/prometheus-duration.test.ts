import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { parsePrometheusDuration } from './prometheus-duration.ts';

const accepted: Record<string, readonly [text: string, milliseconds: number]> = {
  'reads a bare zero': ['0', 0],
  'reads zero with a unit': ['0s', 0],
  'reads milliseconds': ['5ms', 5],
  'reads seconds': ['30s', 30_000],
  'reads minutes': ['5m', 300_000],
  'reads hours': ['1h', 3_600_000],
  'reads a day as 24 hours': ['1d', 86_400_000],
  'reads a week as 7 days': ['1w', 604_800_000],
  'reads a year as 365 days': ['1y', 31_536_000_000],
  'reads zero parts': ['1h0m0s', 3_600_000],
  'reads all units at once': ['1y1w1d1h1m1s1ms', 32_230_861_001],
  'reads minutes beside milliseconds': ['1m5ms', 60_005],
  'reads leading zeros': ['007d', 604_800_000],
};
for (const [fact, [text, want]] of Object.entries(accepted)) {
  test(`parsePrometheusDuration() ${fact}`, () => {
    assert.deepEqual(parsePrometheusDuration(text, 'x'), { kind: 'valid', value: want });
  });
}

const refused: Record<string, string> = {
  'refuses an empty text': '',
  'refuses decimals': '1.5h',
  'refuses a negative span': '-1h',
  'refuses a plus sign': '+1h',
  'refuses units that grow': '30m1h',
  'refuses a unit twice': '1h1h',
  'refuses a bare number': '5',
  'refuses two bare zeros': '00',
  'refuses a unit alone': 'h',
  'refuses nanoseconds': '5ns',
  'refuses microseconds': '5us',
  'refuses spaces around it': ' 1h',
  'refuses spaces within it': '1h 30m',
  'refuses a line break after it': '1h\n',
  'refuses upper case': '1H',
  'refuses what 64 bits of nanoseconds cannot hold': '293y',
  'refuses a number of a thousand digits': `${'9'.repeat(1_000)}s`,
};
for (const [fact, text] of Object.entries(refused)) {
  test(`parsePrometheusDuration() ${fact}`, () => {
    assert.equal(parsePrometheusDuration(text, 'x').kind, 'invalid');
  });
}

test('parsePrometheusDuration() names the field and the value that it refuses', () => {
  assert.deepEqual(parsePrometheusDuration('1.5h', 'metadata.annotations["a"]'), {
    kind: 'invalid',
    problem: {
      path: 'metadata.annotations["a"]',
      message:
        'must be a Prometheus duration such as "1h30m", "7d" or "0" (whole numbers with units ' +
        'y, w, d, h, m, s, ms, each at most once, the largest first): got "1.5h"',
    },
  });
});

test('parsePrometheusDuration() adds up its parts', () => {
  const part = fc.integer({ min: 0, max: 10_000 });
  fc.assert(
    fc.property(part, part, part, (days, minutes, milliseconds) => {
      const text = `${days}d${minutes}m${milliseconds}ms`;
      const want = days * 86_400_000 + minutes * 60_000 + milliseconds;
      assert.deepEqual(parsePrometheusDuration(text, 'x'), { kind: 'valid', value: want });
    }),
  );
});
