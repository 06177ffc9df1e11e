import type { JsonObject } from '#base/json.ts';
import { definitionOf } from '#kubernetes/custom-resource/custom-resource-definition.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';

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
export const replicaTemplateDefinition: JsonObject = definitionOf({
  type: resourceTypes.replicaTemplates,
  names: { categories: ['all'] },
  columns: [
    { name: 'StatusReplicas', type: 'integer', jsonPath: '.status.replicas' },
    { name: 'SpecReplicas', type: 'integer', jsonPath: '.spec.replicas' },
  ],
  scale,
  schema,
});
