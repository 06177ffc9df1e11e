import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podRow } from '../resource/pod-row.ts';
import { parseFieldSelector, readFieldSelector } from './field-selector.ts';

const pod = {
  metadata: { name: 'web-0', namespace: 'a' },
  spec: { nodeName: 'n1' },
  status: { phase: 'Running' },
};

const cases: readonly (readonly [selector: string, matches: boolean])[] = [
  ['', true],
  ['metadata.name=web-0', true],
  ['metadata.name==web-0', true],
  ['metadata.name!=web-0', false],
  ['metadata.namespace=a,spec.nodeName=n1', true],
  ['spec.nodeName=', false],
  ['spec.nodeName!=', true],
  ['status.podIP=', true],
  ['status.phase=Running,spec.nodeName!=n1', false],
];
for (const [selector, matches] of cases) {
  test(`parseFieldSelector() of "${selector}" ${matches ? 'matches' : 'does not match'}`, () => {
    assert.equal(parseFieldSelector(selector, podRow)(pod), matches);
  });
}

test('parseFieldSelector() refuses a label that the kind does not have', () => {
  assert.throws(() => parseFieldSelector('spec.hostname=web', podRow), {
    code: 400,
    message: 'field label not supported: spec.hostname',
  });
});

test('parseFieldSelector() refuses a name from the prototype', () => {
  assert.throws(() => parseFieldSelector('constructor=x', podRow), { code: 400 });
});

for (const selector of ['metadata.name', '=a', 'metadata.name=a=b']) {
  test(`parseFieldSelector() refuses "${selector}"`, () => {
    assert.throws(() => parseFieldSelector(selector, podRow), { code: 400, reason: 'BadRequest' });
  });
}

test('readFieldSelector() takes an escaped comma literally', () => {
  assert.deepEqual(readFieldSelector('metadata.name=a\\,b', podRow).requirements, [
    { field: 'metadata.name', isNegated: false, value: 'a,b' },
  ]);
});
