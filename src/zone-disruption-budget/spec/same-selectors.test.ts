import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { parseSelector } from './parse-selector.ts';
import { isSameSelector, mayOverlap } from './same-selectors.ts';
import type { PodSelector } from './selector.ts';

function selector(value: JsonObject): PodSelector {
  const { selector: read, problem } = parseSelector(value, 'spec.selector');
  assert.equal(problem, undefined);
  return read;
}

const web = selector({ matchLabels: { app: 'web' } });

const overlaps: Record<string, readonly [other: PodSelector, want: boolean]> = {
  'the same label': [selector({ matchLabels: { app: 'web' } }), true],
  'another value of that label': [selector({ matchLabels: { app: 'db' } }), false],
  'another label': [selector({ matchLabels: { tier: 'front' } }), true],
  'one of several values': [
    selector({ matchExpressions: [{ key: 'app', operator: 'In', values: ['db', 'web'] }] }),
    true,
  ],
  'all but that value, which is not worked out': [
    selector({ matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] }),
    true,
  ],
  'all pods': [selector({}), true],
  'no pod': [undefined, false],
};

for (const [fact, [other, want]] of Object.entries(overlaps)) {
  test(`mayOverlap() of what selects a label, and ${fact}: ${want}`, () => {
    assert.deepEqual([mayOverlap(web, other), mayOverlap(other, web)], [want, want]);
  });
}

test('isSameSelector() tells values, operators and no selector apart', () => {
  const others = [
    selector({ matchLabels: { app: 'db' } }),
    selector({ matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] }),
    selector({ matchExpressions: [{ key: 'app', operator: 'Exists' }] }),
    selector({}),
    undefined,
  ];
  assert.deepEqual(
    others.map((other) => isSameSelector(web, other)),
    [false, false, false, false, false],
  );
  assert.ok(isSameSelector(web, selector({ matchLabels: { app: 'web' } })));
});
