import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statefulSetView } from '#support/objects/views.ts';
import { isProtected, switchProblem, switchProblems } from './protective-switch.ts';

const path = 'metadata.labels["grafana.com/no-downscale"]';

for (const [text, want] of [
  [undefined, { protects: false, isReadable: true }],
  ['', { protects: false, isReadable: true }],
  ['  ', { protects: false, isReadable: true }],
  ['false', { protects: false, isReadable: true }],
  ['False', { protects: false, isReadable: true }],
  ['FALSE ', { protects: false, isReadable: true }],
  ['true', { protects: true, isReadable: true }],
  ['True', { protects: true, isReadable: false }],
  [' true', { protects: true, isReadable: false }],
  ['1', { protects: true, isReadable: false }],
  ['0', { protects: true, isReadable: false }],
  ['yes', { protects: true, isReadable: false }],
  ['maybe', { protects: true, isReadable: false }],
] as const) {
  const outcome = `${want.protects ? 'protects' : 'does not protect'}${want.isReadable ? '' : ', and has a problem'}`;
  test(`a switch of ${JSON.stringify(text)} ${outcome} [found R-12]`, () => {
    assert.equal(isProtected(text), want.protects);
    assert.equal(switchProblem('grafana.com/no-downscale', text) === undefined, want.isReadable);
  });
}

test('switchProblem() says where the value is, what it must be and what it was [found R-12]', () => {
  assert.deepEqual(switchProblem('grafana.com/no-downscale', 'yes'), {
    path,
    message: 'must be "true" or "false": got "yes"; it counts as "true"',
  });
});

test('switchProblems() looks at every switch where it is read, and nowhere else [found R-12]', () => {
  const all = {
    'grafana.com/rollout-paused': 'yes',
    'grafana.com/rollout-upscale-only-when-leader-ready': '1',
    'grafana.com/no-downscale': 'T',
    'grafana.com/prepare-downscale': 'on',
  };
  const set = statefulSetView({ annotations: all, labels: all });
  assert.deepEqual(
    switchProblems(set).map((problem) => problem.path),
    [
      'metadata.annotations["grafana.com/rollout-paused"]',
      'metadata.annotations["grafana.com/rollout-upscale-only-when-leader-ready"]',
      path,
      'metadata.labels["grafana.com/prepare-downscale"]',
    ],
  );
});
