import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { millis } from '../units.ts';
import { formatGoDuration, parseGoDuration } from './go-duration.ts';

const accepted: Record<string, readonly [text: string, milliseconds: number]> = {
  'reads hours': ['12h', 43_200_000],
  'reads several units': ['1h30m', 5_400_000],
  'reads units in any order and repeated': ['1s1h1s', 3_602_000],
  'reads seconds': ['90s', 90_000],
  'reads a bare zero': ['0', 0],
  'reads a signed bare zero': ['-0', 0],
  'reads decimals': ['1.5h', 5_400_000],
  'reads a decimal without a whole part': ['.5s', 500],
  'reads a decimal without a fraction': ['1.s', 1_000],
  'reads milliseconds': ['250ms', 250],
  'reads microseconds': ['250us', 0.25],
  'reads microseconds with a micro sign': ['250\u00b5s', 0.25],
  'reads microseconds with a Greek mu': ['250\u03bcs', 0.25],
  'reads nanoseconds': ['1ns', 0.000001],
  'reads a negative duration': ['-1h', -3_600_000],
  'reads an explicit plus': ['+5s', 5_000],
  'reads leading zeros': ['00000000000000000000000005s', 5_000],
  'cuts what is below a nanosecond': ['0.0000000019s', 0.000001],
  'reads the longest span': ['2562047h47m16.854775807s', 9_223_372_036_854.775],
};
for (const [fact, [text, want]] of Object.entries(accepted)) {
  test(`parseGoDuration() ${fact}`, () => {
    const parsed = parseGoDuration(text, 'x');
    assert.equal(parsed.kind === 'valid' ? parsed.value : parsed.problem.message, want);
  });
}

const refused: Record<string, string> = {
  'refuses an empty text': '',
  'refuses a lone sign': '-',
  'refuses a lone point': '.',
  'refuses a point with a unit': '.s',
  'refuses a number without a unit': '3',
  'refuses a last number without a unit': '1h30',
  'refuses days': '1d',
  'refuses weeks': '1w',
  'refuses years': '1y',
  'refuses spaces around it': ' 1h',
  'refuses spaces within it': '1h 30m',
  'refuses a sign within it': '1h-30m',
  'refuses two signs': '--1h',
  'refuses two points': '1.2.3s',
  'refuses an unknown unit': '1fortnight',
  'refuses units in upper case': '1H',
  'refuses what 64 bits of nanoseconds cannot hold': '2562047h47m16.854775808s',
  'refuses a number of a thousand digits': `${'9'.repeat(1_000)}h`,
};
for (const [fact, text] of Object.entries(refused)) {
  test(`parseGoDuration() ${fact}`, () => {
    assert.equal(parseGoDuration(text, 'x').kind, 'invalid');
  });
}

test('parseGoDuration() names the field, the value and the unit that it refuses', () => {
  assert.deepEqual(parseGoDuration('7d', 'metadata.labels["a"]'), {
    kind: 'invalid',
    problem: {
      path: 'metadata.labels["a"]',
      message:
        'must be a Go duration such as "90s", "1h30m" or "0" (units ns, us, ms, s, m, h), and "d" is no unit: got "7d"',
    },
  });
});

test('parseGoDuration() accepts the most negative span', () => {
  assert.equal(parseGoDuration('-2562047h47m16.854775808s', 'x').kind, 'valid');
});

const printed: Record<string, readonly [milliseconds: number, text: string]> = {
  'prints zero': [0, '0s'],
  'prints hours with minutes and seconds': [3_600_000, '1h0m0s'],
  'prints minutes with seconds': [300_000, '5m0s'],
  'prints seconds': [5_000, '5s'],
  'prints a fraction of seconds': [1_500, '1.5s'],
  'prints milliseconds below a second': [250, '250ms'],
  'prints a fraction of milliseconds': [1.5, '1.5ms'],
  'prints microseconds below a millisecond': [0.0015, '1.5µs'],
  'prints nanoseconds below a microsecond': [0.000001, '1ns'],
  'prints a year in hours': [31_536_000_000, '8760h0m0s'],
  'prints a negative span': [-90_000, '-1m30s'],
  'prints zero for less than half a nanosecond': [0.0000001, '0s'],
};
for (const [fact, [span, want]] of Object.entries(printed)) {
  test(`formatGoDuration() ${fact}`, () => {
    assert.equal(formatGoDuration(millis(span)), want);
  });
}

test('formatGoDuration() prints what parseGoDuration() reads back to the millisecond', () => {
  fc.assert(
    fc.property(fc.integer({ min: -9_000_000_000_000, max: 9_000_000_000_000 }), (span) => {
      assert.deepEqual(parseGoDuration(formatGoDuration(millis(span)), 'x'), {
        kind: 'valid',
        value: span === 0 ? 0 : span,
      });
    }),
  );
});

test('formatGoDuration() prints every nanosecond of spans below a day', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 86_400_000_000_000 }), (nanoseconds) => {
      const text = formatGoDuration(millis(nanoseconds / 1_000_000));
      const parsed = parseGoDuration(text, 'x');
      assert.equal(
        parsed.kind === 'valid' && Math.round(parsed.value * 1_000_000),
        nanoseconds,
        text,
      );
    }),
  );
});

test('parseGoDuration() answers for any text without throwing', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('0', '19', '.', '+', '-', 'h', 'ms', 'd') }),
      (text) => {
        assert.match(parseGoDuration(text, 'x').kind, /^(?:valid|invalid)$/);
      },
    ),
  );
});
