import type { JsonObject } from '#base/json.ts';
import { definitionOf, schemaOf } from '#kubernetes/custom-resource/custom-resource-definition.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';

const selector: JsonObject = {
  type: 'object',
  description:
    'Selects the pods that this budget guards: none if it is missing, all if it is empty.',
  properties: {
    matchExpressions: {
      type: 'array',
      items: {
        type: 'object',
        required: ['key', 'operator'],
        properties: {
          key: { type: 'string' },
          operator: { type: 'string' },
          values: { type: 'array', items: { type: 'string' } },
        },
      },
    },
    matchLabels: { type: 'object', additionalProperties: { type: 'string' } },
  },
  'x-kubernetes-map-type': 'atomic',
};

const spec: JsonObject = {
  type: 'object',
  properties: {
    selector,
    maxUnavailable: {
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      'x-kubernetes-int-or-string': true,
      description:
        'How many of the selected pods of one zone may be unavailable: an integer, or a percentage of all of them in all zones, rounded up.',
    },
    dryRun: {
      type: 'boolean',
      description: 'Whether evictions are only judged: none is refused, and none is recorded.',
    },
  },
};

function byZone(description: string): JsonObject {
  const additionalProperties = { type: 'integer', format: 'int32' };
  return { type: 'object', additionalProperties, description };
}

const status: JsonObject = {
  type: 'object',
  properties: {
    observedGeneration: { type: 'integer', format: 'int64' },
    disruptedPods: {
      type: 'object',
      additionalProperties: { type: 'string', format: 'date-time' },
      description: 'When each eviction that has not ended was allowed, by pod.',
    },
    disruptionsAllowed: byZone('Evictions that are still allowed, by zone.'),
    currentHealthy: byZone('Healthy pods, by zone.'),
    currentUnhealthy: byZone('Unhealthy pods, by zone.'),
    desiredHealthy: byZone('How many pods must stay healthy, by zone.'),
    expectedPods: byZone('Pods that there should be, by zone.'),
  },
};

/** The definition of ZoneDisruptionBudget, with the names and types of the peer's. */
export const zoneDisruptionBudgetDefinition: JsonObject = definitionOf({
  type: resourceTypes.zoneDisruptionBudgets,
  names: { shortNames: ['zdb'] },
  schema: schemaOf({ spec, status }),
});
