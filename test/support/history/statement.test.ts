import assert from 'node:assert/strict';
import { test } from 'node:test';
import { T0 } from '../objects/views.ts';
import { scaleStatementOf } from './statement.ts';

const utterance = { at: T0, namespace: 'test', client: 'operator-1' };
const rests = {
  uid: 'ingester-zone-b-uid',
  view_pods: 'ingester-zone-a=7,ingester-zone-b=8',
  view_statefulsets: '9',
  proof_pods: '7',
  proof_statefulsets: '9',
  age_ms: 3,
};
const want = {
  sentAt: T0,
  proofs: { pods: 7, statefulsets: 9 },
  views: { pods: { 'ingester-zone-a': 7, 'ingester-zone-b': 8 }, statefulsets: 9 },
  setUid: 'ingester-zone-b-uid',
  namespace: 'test',
  setName: 'ingester-zone-b',
  from: 3,
  to: 2,
  client: 'operator-1',
};

test('scaleStatementOf() reads what a down-scale rests on', () => {
  const fields = { ...rests, statefulset: 'ingester-zone-b', from: 3, to: 2 };
  assert.deepEqual(scaleStatementOf(utterance, fields), want);
});

test('scaleStatementOf() reads what was laid over lists from a cache (D-49)', () => {
  const newer = {
    view_pods_newer: 'ingester-zone-a-0=12,ingester-zone-b-1=11',
    view_statefulsets_newer: 'ingester-zone-b=13',
  };
  const fields = { ...rests, ...newer, statefulset: 'ingester-zone-b', from: 3, to: 2 };
  assert.deepEqual(scaleStatementOf(utterance, fields)?.views, {
    ...want.views,
    newerPods: { 'ingester-zone-a-0': 12, 'ingester-zone-b-1': 11 },
    newerStatefulsets: { 'ingester-zone-b': 13 },
  });
});

test('scaleStatementOf() reads the names that the peer has for the counts', () => {
  const fields = { ...rests, name: 'ingester-zone-b', currentReplicas: 3, replicas: 2 };
  assert.deepEqual(scaleStatementOf(utterance, fields), want);
});

test('scaleStatementOf() finds none where the event does not say what the write rests on', () => {
  const fields = { name: 'ingester-zone-b', currentReplicas: 3, replicas: 2 };
  assert.equal(scaleStatementOf(utterance, fields), undefined);
});
