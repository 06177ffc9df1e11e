import type { JsonObject } from '#base/json.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';

/** ReplicaTemplates, as the API serves them once {@link replicaTemplateDefinition} is installed. */
export const replicaTemplates: ResourceType = Object.freeze({
  group: 'rollout-operator.grafana.com',
  version: 'v1',
  plural: 'replicatemplates',
  kind: 'ReplicaTemplate',
  isNamespaced: true,
});

const { group, version, plural, kind } = replicaTemplates;

const scale = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.spec.labelSelector',
};

const schema: JsonObject = {
  type: 'object',
  description:
    'Replicas for StatefulSets to mirror; an autoscaler scales it, and no pod belongs to it.',
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      properties: {
        replicas: {
          type: 'integer',
          minimum: 0,
          default: 1,
          description: 'How many replicas the sets that mirror this object should have.',
        },
        labelSelector: {
          type: 'string',
          description: 'Selects the pods that an autoscaler takes its metrics from.',
        },
      },
    },
    status: {
      type: 'object',
      properties: {
        replicas: { type: 'integer', description: 'How many replicas the sets have.' },
      },
    },
  },
};

/** The definition of ReplicaTemplate, as the peer ships it (SC-42). */
export const replicaTemplateDefinition: JsonObject = Object.freeze({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: {
      kind,
      listKind: 'ReplicaTemplateList',
      plural,
      singular: 'replicatemplate',
      categories: ['all'],
    },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        additionalPrinterColumns: [
          { name: 'StatusReplicas', type: 'integer', jsonPath: '.status.replicas' },
          { name: 'SpecReplicas', type: 'integer', jsonPath: '.spec.replicas' },
        ],
        subresources: { status: {}, scale },
        schema: { openAPIV3Schema: schema },
      },
    ],
  },
});
