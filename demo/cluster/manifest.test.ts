import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textMapAt } from '#cluster/json/read-json.ts';
import {
  asApplied,
  changed,
  inOrderOfCreation,
  nextImage,
  parseManifests,
  withTag,
} from './manifest.ts';

test('parseManifests() reads every document and skips empty ones', () => {
  const text = 'apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\n---\n# none\n';
  assert.deepEqual(parseManifests('a.yaml', text), [
    { apiVersion: 'v1', kind: 'A', metadata: { name: 'a' } },
  ]);
});

test('parseManifests() names the file of what is no object of Kubernetes', () => {
  assert.throws(() => parseManifests('a.yaml', 'kind: A\n'), {
    message: 'Cannot use a.yaml: each document needs apiVersion, kind and metadata.name',
  });
});

test('inOrderOfCreation() puts namespaces first and StatefulSets last', () => {
  const of = (kind: string) => ({ kind });
  const kinds = ['StatefulSet', 'Service', 'Namespace', 'ConfigMap'].map(of);
  assert.deepEqual(
    inOrderOfCreation(kinds).map(({ kind }) => kind),
    ['Namespace', 'Service', 'ConfigMap', 'StatefulSet'],
  );
});

test('changed() sets replicas and limit of a member of a group, and nothing else', () => {
  const labels = { 'rollout-group': 'g' };
  const set = { kind: 'StatefulSet', metadata: { name: 'a', labels }, spec: { replicas: 6 } };
  assert.deepEqual(changed(set, { pods: 3, maxUnavailable: 1 }), {
    kind: 'StatefulSet',
    metadata: { name: 'a', labels, annotations: { 'rollout-max-unavailable': '1' } },
    spec: { replicas: 3 },
  });
  const service = { kind: 'Service', metadata: { name: 'a', labels } };
  assert.equal(changed(service, { pods: 3, maxUnavailable: 1 }), service);
});

const images: Record<string, { image: string; want: string }> = {
  'raises the minor version': { image: 'reg.example/db:2.10.3', want: 'reg.example/db:2.11.0' },
  'replaces a tag that is no version': { image: 'db:broken', want: 'db:1.0.0' },
  'adds a tag where there is none': {
    image: 'reg.example:5000/db',
    want: 'reg.example:5000/db:1.0.0',
  },
};

for (const [fact, { image, want }] of Object.entries(images)) {
  test(`nextImage() ${fact}`, () => {
    assert.equal(nextImage(image), want);
  });
}

test('withTag() keeps the port of a registry', () => {
  assert.equal(withTag('reg.example:5000/db:1', 'broken'), 'reg.example:5000/db:broken');
});

test('asApplied() keeps what was applied, and the annotations of the manifest', () => {
  const object = {
    kind: 'ConfigMap',
    metadata: { name: 'a', annotations: { b: 'c' } },
    data: { d: 'e' },
  };
  const { metadata, ...rest } = asApplied(object);
  assert.deepEqual(rest, { kind: 'ConfigMap', data: { d: 'e' } });
  const { 'kubectl.kubernetes.io/last-applied-configuration': last, ...annotations } = textMapAt(
    metadata,
    'annotations',
  );
  assert.deepEqual(annotations, { b: 'c' });
  assert.equal(
    last,
    '{"data":{"d":"e"},"kind":"ConfigMap","metadata":{"annotations":{"b":"c"},"name":"a"}}\n',
  );
});
