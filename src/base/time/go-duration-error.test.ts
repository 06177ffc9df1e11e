import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGoDuration } from './go-duration.ts';
import { goDurationError } from './go-duration-error.ts';

/** What Go 1.26 says of each, printed by a program of it. */
const said: Readonly<Record<string, string>> = {
  notaduration: 'time: invalid duration "notaduration"',
  ' ': 'time: invalid duration " "',
  '-': 'time: invalid duration "-"',
  '+-5m': 'time: invalid duration "+-5m"',
  '.': 'time: invalid duration "."',
  '5': 'time: missing unit in duration "5"',
  '1.5': 'time: missing unit in duration "1.5"',
  '1h30': 'time: missing unit in duration "1h30"',
  '1d': 'time: unknown unit "d" in duration "1d"',
  '-1h5w': 'time: unknown unit "w" in duration "-1h5w"',
  '1 h': 'time: unknown unit " h" in duration "1 h"',
  '1M': 'time: unknown unit "M" in duration "1M"',
  '1"\\': 'time: unknown unit "\\"\\\\" in duration "1\\"\\\\"',
  '1é\n': 'time: unknown unit "\\xc3\\xa9\\x0a" in duration "1\\xc3\\xa9\\x0a"',
  '99999999999999999999': 'time: invalid duration "99999999999999999999"',
  '9223372036854775808d': 'time: unknown unit "d" in duration "9223372036854775808d"',
  '9223372036854775809d': 'time: invalid duration "9223372036854775809d"',
  '9223372036854775808ns': 'time: invalid duration "9223372036854775808ns"',
  '2562047h48m': 'time: invalid duration "2562047h48m"',
  '9223372036854775807h1d': 'time: invalid duration "9223372036854775807h1d"',
};

for (const [text, error] of Object.entries(said)) {
  test(`goDurationError() says of ${JSON.stringify(text)} what Go says`, () => {
    assert.equal(parseGoDuration(text, 'x').kind, 'invalid');
    assert.equal(goDurationError(text), error);
  });
}

test('goDurationError() reads a text of many digits once', () => {
  const digits = '0'.repeat(200_000);
  assert.equal(goDurationError(digits), `time: missing unit in duration "${digits}"`);
});
