import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asked, isMatched } from './expressions.ts';

const cases: Record<string, { metrics: readonly string[]; groupings: readonly string[] }> = {
  up: { metrics: ['up'], groupings: [] },
  'absent(up{job=~"a.*"} == 1)': { metrics: ['up'], groupings: [] },
  'sum by (a, b) (rate(x_total{c="d"}[5m])) / sum(y) > 0.1': {
    metrics: ['x_total', 'y'],
    groupings: ['a', 'b'],
  },
  'sum(x) without (a) and on (b) y unless group_left (c) z': {
    metrics: ['x', 'y', 'z'],
    groupings: ['a', 'b', 'c'],
  },
  'time() - max by (a) (x) > 2 * 86400': { metrics: ['x'], groupings: ['a'] },
  'histogram_quantile(0.99, sum by (le) (rate(x_bucket{r=~"a|b"}[$__rate_interval]))) or vector(0)':
    { metrics: ['x_bucket'], groupings: ['le'] },
};

for (const [expression, { metrics, groupings }] of Object.entries(cases)) {
  const readable = expression.replaceAll('$__rate_interval', '5m');
  test(`asked() finds metrics and groupings of ${expression}`, () => {
    const found = asked(readable);
    assert.deepEqual(
      [found.selectors.map(({ metric }) => metric), found.groupings],
      [metrics, groupings],
    );
  });
}

test('asked() finds the matchers of a selector, with quotation marks, commas and braces in their values', () => {
  assert.deepEqual(asked('x{a="}\\"",b!~"c,d", e!=""}').selectors, [
    {
      metric: 'x',
      matchers: [
        { label: 'a', operator: '=', value: '}"' },
        { label: 'b', operator: '!~', value: 'c,d' },
        { label: 'e', operator: '!=', value: '' },
      ],
    },
  ]);
});

test('asked() refuses what it cannot read', () => {
  assert.throws(() => asked('x @ end()'), /Cannot read "@"/);
});

test('isMatched() compares as Prometheus does: regular expressions match the whole value', () => {
  const matched = (operator: '=' | '!=' | '=~' | '!~', wanted: string, value: string): boolean =>
    isMatched({ label: 'a', operator, value: wanted }, value);
  assert.deepEqual(
    [
      matched('=', 'x', 'x'),
      matched('!=', 'x', 'x'),
      matched('=~', '5..', '503'),
      matched('=~', '5..', '5030'),
      matched('=~', 'a|b', 'b'),
      matched('!~', '2..', '409'),
      matched('=~', '.*', ''),
    ],
    [true, false, true, false, true, true, true],
  );
});
