import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endingInTime } from '#support/ends-in-time.ts';
import { StatusError } from '../errors/status-error.ts';
import {
  type Labels,
  labelSelectorMatches,
  parseLabelSelector,
  readLabelSelector,
} from './label-selector.ts';

const labels: Labels = { app: 'web', tier: 'front', 'example.com/zone': 'a', order: '7' };

const cases: readonly (readonly [selector: string, matches: boolean])[] = [
  ['', true],
  ['app=web', true],
  ['app==web', true],
  ['app = web , tier=front', true],
  ['app=web,tier=back', false],
  ['app!=web', false],
  ['missing!=web', true],
  ['app in (web, api)', true],
  ['app in (api)', false],
  ['missing in (api)', false],
  ['app notin (api)', true],
  ['missing notin (api)', true],
  ['app notin (web),tier=front', false],
  ['app', true],
  ['missing', false],
  ['!app', false],
  ['!missing', true],
  ['! missing', true],
  ['example.com/zone=a', true],
  ['missing=', false],
  ['order>6', true],
  ['order<7', false],
  ['in=web', false],
];
for (const [selector, matches] of cases) {
  test(`parseLabelSelector() of "${selector}" ${matches ? 'matches' : 'does not match'}`, () => {
    assert.equal(parseLabelSelector(selector)(labels), matches);
  });
}

for (const selector of [
  'app=web=x',
  'app in web',
  'app in (a',
  'a b',
  ',',
  'app=web,',
  '=web',
  '-app=web',
  'app=-web',
  'UPPER.example.com/x=a',
  `app=${'a'.repeat(64)}`,
  `${'a'.repeat(64)}=a`,
  'order>x',
]) {
  test(`parseLabelSelector() refuses "${selector}" with 400`, () => {
    assert.throws(
      () => parseLabelSelector(selector),
      (error) => error instanceof StatusError && error.code === 400,
    );
  });
}

for (const [what, before, behind] of [
  ['before a key', '', ' app x'],
  ['behind a sign', 'app=', '('],
  ['behind a key', 'app', '('],
] as const) {
  test(`parseLabelSelector() refuses a million spaces ${what} in time that grows as they do`, () => {
    const text = before + ' '.repeat(1_000_000) + behind;
    endingInTime(() => assert.throws(() => parseLabelSelector(text), StatusError));
  });
}

test('readLabelSelector() shows its requirements for an index', () => {
  assert.deepEqual(readLabelSelector('app=web,!old').requirements, [
    { key: 'app', operator: 'In', values: ['web'] },
    { key: 'old', operator: 'DoesNotExist', values: [] },
  ]);
});

test('labelSelectorMatches() matches nothing for an absent or null selector', () => {
  assert.equal(labelSelectorMatches(undefined, labels), false);
  assert.equal(labelSelectorMatches(null, labels), false);
});

test('labelSelectorMatches() matches everything for an empty selector', () => {
  assert.equal(labelSelectorMatches({}, {}), true);
});

test('labelSelectorMatches() wants labels and expressions to hold', () => {
  const expression = { key: 'tier', operator: 'In', values: ['front', 'back'] };
  const selector = { matchLabels: { app: 'web' }, matchExpressions: [expression] };
  assert.equal(labelSelectorMatches(selector, labels), true);
  assert.equal(labelSelectorMatches(selector, { app: 'web' }), false);
  assert.equal(labelSelectorMatches(selector, { tier: 'back' }), false);
});
