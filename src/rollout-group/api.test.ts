import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statefulSetView } from '#testing/views.ts';
import { groupOf, isPaused, misplacedKeys, unbuiltCapabilityOf } from './api.ts';

test('groupOf() [scenario 35] knows no group of a set without the label', () => {
  assert.equal(groupOf(statefulSetView({ labels: {} })), undefined);
});

test('groupOf() takes the empty text for a group (IN-10)', () => {
  assert.equal(groupOf(statefulSetView({ labels: { 'rollout-group': '' } })), '');
});

for (const [value, want] of [
  ['true', true],
  ['True', false],
  ['1', false],
  [' true', false],
  ['', false],
] as const) {
  test(`isPaused() answers ${want} for ${JSON.stringify(value)} (IN-13)`, () => {
    const set = statefulSetView({ annotations: { 'grafana.com/rollout-paused': value } });
    assert.equal(isPaused(set), want);
  });
}

test('misplacedKeys() tells a label key among the annotations where it belongs (KW-24)', () => {
  const set = statefulSetView({
    annotations: { 'grafana.com/min-time-between-zones-downscale': '12h' },
  });
  assert.deepEqual(misplacedKeys(set), [
    {
      path: 'metadata.annotations["grafana.com/min-time-between-zones-downscale"]',
      message: 'is read from metadata.labels only',
    },
  ]);
});

test('misplacedKeys() says nothing of a key that stands in both maps', () => {
  const both = { 'rollout-max-unavailable': '2' };
  assert.deepEqual(misplacedKeys(statefulSetView({ labels: both, annotations: both })), []);
});

const asking: Record<string, Readonly<Record<string, string>>> = {
  'a leader': { 'grafana.com/rollout-downscale-leader': 'ingester-zone-a' },
  'a leader without a name': { 'grafana.com/rollout-downscale-leader': '' },
  'a mirrored resource': {
    'grafana.com/rollout-mirror-replicas-from-resource-name': 'test',
    'grafana.com/rollout-mirror-replicas-from-resource-kind': 'ReplicaTemplate',
  },
};

for (const [what, annotations] of Object.entries(asking)) {
  test(`unbuiltCapabilityOf() refuses a set that asks for ${what} (D-13)`, () => {
    assert.equal(unbuiltCapabilityOf(statefulSetView({ annotations })).kind, 'invalid');
  });
}

const notAsking: Record<string, Readonly<Record<string, string>>> = {
  'only half of a mirrored resource': {
    'grafana.com/rollout-mirror-replicas-from-resource-name': 'test',
  },
  'a mirrored resource with an empty kind': {
    'grafana.com/rollout-mirror-replicas-from-resource-name': 'test',
    'grafana.com/rollout-mirror-replicas-from-resource-kind': '',
  },
  'forced replicas without a source': { 'grafana.com/rollout-force-replicas': '3' },
};

for (const [what, annotations] of Object.entries(notAsking)) {
  test(`unbuiltCapabilityOf() accepts a set with ${what}`, () => {
    assert.equal(unbuiltCapabilityOf(statefulSetView({ annotations })).kind, 'valid');
  });
}
