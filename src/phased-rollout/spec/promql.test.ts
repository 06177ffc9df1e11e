import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { promqlProblem } from './promql.ts';

/** What the parser of Prometheus 3.5 says of each: it takes these. */
const good: readonly string[] = [
  'up',
  'up{}',
  'up{a="b",}',
  "up{a='x', b!=\"y\", c=~`z.*`, d!~'.'}",
  '{"my.metric", "a.b"="c"}',
  '# a comment\nup',
  'scalar(up)',
  '"a text"',
  '1.5e3',
  'NaN',
  'up[5m]',
  'up[1h30m:5m] offset -1d',
  'up @ end() offset 5m',
  'sum by (le, job) (rate(x[5m]))',
  'sum(rate(x[5m])) by (le)',
  'a * on(x) group_left(y) b',
  'up == bool 1',
  'a unless on() b or c',
  '-up ^ 2',
  'histogram_quantile(5./6., rate(x[15m])) < 1.e2',
  'up > 0x1_f',
  'up > 5.',
  'up{a="1."}',
];

/** Where the first error is, and of what. It refuses these. */
const bad: Readonly<Record<string, string>> = {
  '': '1:1: unexpected end',
  ' ': '1:2: unexpected end',
  'up{': '1:4: unexpected end',
  'up up': '1:4: unexpected "up"',
  '1 + ': '1:5: unexpected end',
  'foo(up)': '1:4: unexpected "(up)"',
  'up{a=b}': '1:6: unexpected "b}"',
  'sum(up) by (a': '1:14: unexpected end',
  'up >\n  < 5': '2:3: unexpected "< 5"',
  'up[5m': '1:6: unexpected end',
  é: '1:1: unexpected "é"',
  '0.5 < up)': '1:9: unexpected ")"',
};

describe('promqlProblem()', () => {
  for (const expr of good) {
    test(`promqlProblem() finds nothing in ${JSON.stringify(expr)}`, () => {
      assert.equal(promqlProblem(expr), undefined);
    });
  }
  for (const [expr, want] of Object.entries(bad)) {
    test(`promqlProblem() finds an error in ${JSON.stringify(expr)}`, () => {
      assert.equal(promqlProblem(expr), want);
    });
  }

  test('promqlProblem() reads long expressions, and leaves longer ones to the server', () => {
    for (const part of ['a+', '-', '(', 'a or ', 'sum(']) {
      const count = Math.floor(1_000 / part.length);
      const ends = part.endsWith('(') ? ')'.repeat(count) : '';
      assert.equal(promqlProblem(`${part.repeat(count)}a${ends}`), undefined, part);
    }
    assert.equal(promqlProblem(`${'a+'.repeat(1_023)}a`), undefined);
    assert.notEqual(promqlProblem('} '.repeat(1_024)), undefined);
    assert.equal(promqlProblem('} '.repeat(1_025)), undefined);
  });
});
