import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definitionOf } from './custom-resource-definition.ts';

const rings = { group: 'example.com', version: 'v1alpha1', plural: 'rings', kind: 'Ring' };
const schema = { type: 'object' };

test('definitionOf() says no more than was said of the kind', () => {
  assert.deepEqual(definitionOf({ type: { ...rings, isNamespaced: true }, schema }), {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'rings.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Ring', listKind: 'RingList', plural: 'rings', singular: 'ring' },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object' } },
        },
      ],
    },
  });
});

test('definitionOf() passes on names, columns and paths to scale by, of a kind in no namespace', () => {
  const definition = definitionOf({
    type: { ...rings, isNamespaced: false },
    names: { shortNames: ['rg'], categories: ['all'] },
    columns: [
      { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
      { name: 'SD', type: 'integer', priority: 1, jsonPath: '.status.down' },
    ],
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
    schema,
  });
  assert.deepEqual(definition['spec'], {
    group: 'example.com',
    scope: 'Cluster',
    names: {
      kind: 'Ring',
      listKind: 'RingList',
      plural: 'rings',
      singular: 'ring',
      shortNames: ['rg'],
      categories: ['all'],
    },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        additionalPrinterColumns: [
          { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
          { name: 'SD', type: 'integer', priority: 1, jsonPath: '.status.down' },
        ],
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        schema: { openAPIV3Schema: { type: 'object' } },
      },
    ],
  });
});
