import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statefulSetView, T0 } from '#support/objects/views.ts';
import { forcedReplicasOf, lastDownscaleOf, referenceOf, sourceOf } from './api.ts';

const NAME = 'grafana.com/rollout-mirror-replicas-from-resource-name';
const KIND = 'grafana.com/rollout-mirror-replicas-from-resource-kind';
const API_VERSION = 'grafana.com/rollout-mirror-replicas-from-resource-api-version';

const groups: Record<string, string> = {
  '': '',
  '/': '',
  v1: '',
  'my.group/v9': 'my.group',
  'my.group/': 'my.group',
};

for (const [apiVersion, group] of Object.entries(groups)) {
  test(`[scenario 57] referenceOf() finds group "${group}" in api-version "${apiVersion}" (IN-21)`, () => {
    const annotations = { [NAME]: 'test', [KIND]: 'Widget', [API_VERSION]: apiVersion };
    const reference = referenceOf(statefulSetView({ annotations }));
    assert.deepEqual(reference, { name: 'test', kind: 'Widget', group });
  });
}

test('[scenario 57] referenceOf() takes an absent api-version for the core group (KW-28)', () => {
  const annotations = { [NAME]: 'test', [KIND]: 'Widget' };
  assert.equal(referenceOf(statefulSetView({ annotations }))?.group, '');
});

test('sourceOf() takes an empty name or kind for none (IN-19, IN-20)', () => {
  for (const annotations of [
    { [NAME]: '', [KIND]: 'Widget' },
    { [NAME]: 'test', [KIND]: '' },
  ]) {
    assert.equal(sourceOf(statefulSetView({ annotations })).kind, 'none');
  }
});

const forced: Record<string, number | undefined> = {
  '0': 0,
  '-0': 0,
  '+3': 3,
  '007': 7,
  '2147483647': 2_147_483_647,
  '2147483648': undefined,
  '-1': undefined,
  '1e3': undefined,
  '': undefined,
  '３': undefined,
};

for (const [text, want] of Object.entries(forced)) {
  test(`[scenario 49] forcedReplicasOf() reads ${JSON.stringify(text)} (IN-18)`, () => {
    const annotations = { 'grafana.com/rollout-force-replicas': text };
    const found = forcedReplicasOf(statefulSetView({ annotations }));
    assert.deepEqual(found?.kind === 'valid' ? found.value : undefined, want);
  });
}

test('lastDownscaleOf() reads the annotation, and names it where it is no time (IN-17)', () => {
  const annotated = (text: string): ReturnType<typeof lastDownscaleOf> =>
    lastDownscaleOf(statefulSetView({ annotations: { 'grafana.com/last-downscale': text } }));
  assert.deepEqual(annotated('2026-01-01T00:00:00Z'), { kind: 'valid', value: T0 });
  const found = annotated('yesterday');
  const path = found?.kind === 'invalid' ? found.problem.path : undefined;
  assert.equal(path, 'metadata.annotations["grafana.com/last-downscale"]');
  assert.equal(lastDownscaleOf(statefulSetView()), undefined);
});
