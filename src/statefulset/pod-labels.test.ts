import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { parsePod } from './parse-pod.ts';
import { labelsOf } from './pod-labels.ts';
import type { PodView } from './view.ts';

function podOf(name: string, labels: Readonly<Record<string, string>>): PodView {
  return parsePod({ metadata: { name, labels }, status: {} });
}

/** A pod as the StatefulSet controller makes it. */
function made(ordinal: number, revision = 'last-hash'): PodView {
  const name = `ingester-${ordinal}`;
  return podOf(name, {
    name: 'ingester',
    'rollout-group': 'ingester',
    'statefulset.kubernetes.io/pod-name': name,
    'apps.kubernetes.io/pod-index': String(ordinal),
    'controller-revision-hash': revision,
  });
}

test('pods of one template share their labels, whatever their names and revisions', () => {
  assert.equal(made(0).labels, made(1).labels);
  assert.equal(made(0).labels, made(0, 'new-hash').labels);
});

test('labelsOf() tells the labels of a pod as it has them', () => {
  assert.deepEqual(labelsOf(made(7)), {
    name: 'ingester',
    'rollout-group': 'ingester',
    'statefulset.kubernetes.io/pod-name': 'ingester-7',
    'apps.kubernetes.io/pod-index': '7',
    'controller-revision-hash': 'last-hash',
  });
});

test('labelsOf() finds labels of the controller that a user gave another value', () => {
  const labels = {
    'statefulset.kubernetes.io/pod-name': 'another-0',
    'apps.kubernetes.io/pod-index': '00',
  };
  assert.deepEqual(labelsOf(podOf('ingester-0', labels)), labels);
});

const key = fc.constantFrom(
  'name',
  'constructor',
  'statefulset.kubernetes.io/pod-name',
  'apps.kubernetes.io/pod-index',
  'controller-revision-hash',
);
const value = fc.constantFrom('', '0', '1', 'ingester', 'ingester-0', 'ingester-1', 'last-hash');

test('labelsOf() gives back whatever labels a pod has', () => {
  const labels = fc.dictionary(key, value, { noNullPrototype: true });
  fc.assert(
    fc.property(labels, fc.constantFrom('ingester-0', 'ingester-1', 'pod'), (given, name) => {
      assert.deepEqual(labelsOf(podOf(name, given)), given);
    }),
  );
});

test('labelsOf() is right for more templates than are remembered', () => {
  const pods = Array.from({ length: 5_000 }, (_, at) => podOf('ingester-0', { job: `job-${at}` }));
  for (const [at, pod] of pods.entries()) assert.deepEqual(labelsOf(pod), { job: `job-${at}` });
});
