import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseGoFloat } from './go-float.ts';

describe('parseGoFloat()', () => {
  // What strconv.ParseFloat(text, 64) of Go 1.26 returns.
  const numbers: Record<string, number> = {
    '2': 2,
    '2.0': 2,
    '+2': 2,
    '.5': 0.5,
    '5.': 5,
    '-3': -3,
    '1e2': 100,
    '1_0': 10,
    '0_1': 1,
    '00012': 12,
    '1_0.5_0': 10.5,
    '1e1_0': 1e10,
    '1e-400': 0,
    '0x1p4': 16,
    '0x1.8p1': 3,
    '0X1P-2': 0.25,
    '0x_1p2': 4,
    '0x1_0p2': 64,
    inf: Infinity,
    '+Inf': Infinity,
    '-inf': -Infinity,
    Infinity,
    nan: Number.NaN,
    NaN: Number.NaN,
  };
  for (const [text, want] of Object.entries(numbers)) {
    test(`parseGoFloat() reads ${text}`, () => assert.equal(parseGoFloat(text), want));
  }

  const refused = [
    '',
    '  ',
    ' 2',
    '0x10',
    '1e400',
    '-1e400',
    'abc',
    '+nan',
    '1__0',
    '_1',
    '1_',
    '1e',
    '1e+',
    'e5',
    '.',
    '0x.p1',
    'infinit',
    '0b1',
    '0o7',
    '1._5',
    '2,5',
    '٢',
    '9'.repeat(1_000),
  ];
  for (const text of refused) {
    test(`parseGoFloat() refuses "${text.slice(0, 10)}"`, () =>
      assert.equal(parseGoFloat(text), undefined));
  }
});
