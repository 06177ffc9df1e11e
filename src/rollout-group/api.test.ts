import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupOf } from '#statefulset/group.ts';
import { statefulSetView } from '#support/objects/views.ts';
import { isPaused, misplacedKeys } from './api.ts';

test('groupOf() [scenario 35] knows no group of a set without the label', () => {
  assert.equal(groupOf(statefulSetView({ labels: {} })), undefined);
});

test('groupOf() takes the empty text for a group (IN-10)', () => {
  assert.equal(groupOf(statefulSetView({ labels: { 'rollout-group': '' } })), '');
});

for (const [value, want] of [
  ['true', true],
  ['True', true],
  ['1', true],
  [' true', true],
  ['yes', true],
  ['off', true],
  ['false', false],
  ['False', false],
  ['', false],
] as const) {
  test(`isPaused() answers ${want} for ${JSON.stringify(value)} (IN-13) [found R-12]`, () => {
    const set = statefulSetView({ annotations: { 'grafana.com/rollout-paused': value } });
    assert.equal(isPaused(set), want);
  });
}

test('misplacedKeys() tells a label key among the annotations where it belongs (KW-24)', () => {
  const set = statefulSetView({
    annotations: { 'grafana.com/no-downscale': 'true' },
  });
  assert.deepEqual(misplacedKeys(set), [
    {
      path: 'metadata.annotations["grafana.com/no-downscale"]',
      message: 'is read from metadata.labels only',
    },
  ]);
});

test('misplacedKeys() takes the minimum time between zones from either map [found R-18]', () => {
  const minimum = { 'grafana.com/min-time-between-zones-downscale': '12h' };
  assert.deepEqual(misplacedKeys(statefulSetView({ annotations: minimum })), []);
  assert.deepEqual(misplacedKeys(statefulSetView({ labels: minimum })), []);
});

test('misplacedKeys() says nothing of a key that is in both maps', () => {
  const both = { 'rollout-max-unavailable': '2' };
  assert.deepEqual(misplacedKeys(statefulSetView({ labels: both, annotations: both })), []);
});
