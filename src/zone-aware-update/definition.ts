import type { JsonObject } from '#base/json.ts';
import { querySchema } from '#check/prometheus/query-schema.ts';
import { conditionSchema } from '#kubernetes/custom-resource/condition-schema.ts';
import { definitionOf, schemaOf } from '#kubernetes/custom-resource/custom-resource-definition.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { defaultFactor } from './api.ts';

const spec: JsonObject = {
  type: 'object',
  properties: {
    statefulset: { type: 'string', description: 'Name of the StatefulSet, in the same namespace.' },
    maxUnavailable: {
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      'x-kubernetes-int-or-string': true,
      description:
        'How many pods one step may take at most: an integer, or a percentage of all pods of the StatefulSet, rounded up.',
    },
    exponentialFactor: {
      type: 'string',
      default: defaultFactor,
      description:
        'By how much each step is larger than the one before, as a text; "0" takes as many as maxUnavailable says at once.',
    },
    pauseRolloutAlarm: {
      type: 'string',
      description:
        'Name of the CloudWatch alarm that pauses the rollout while it is in state ALARM.',
    },
    pauseRolloutQuery: {
      type: 'object',
      description:
        'A query of Prometheus that pauses the rollout unless every value that it finds is within thresholdRange. In addition to the alarm, or alone. An extension of this operator.',
      required: ['url', 'expr', 'thresholdRange'],
      properties: {
        ...querySchema,
        thresholdRange: {
          type: 'object',
          description:
            'What every value must be within for the rollout to go on, ends included; min, max or both.',
          properties: { min: { type: 'number' }, max: { type: 'number' } },
        },
      },
    },
    ignoreAlarm: {
      type: 'boolean',
      description: 'Whether the alarm and the query are ignored.',
    },
    dryRun: {
      type: 'boolean',
      description: 'Whether the update is only planned, and no pod is deleted.',
    },
  },
};

const int32 = { type: 'integer', format: 'int32' } as const;

const status: JsonObject = {
  type: 'object',
  properties: {
    currentRevision: { type: 'string' },
    updateRevision: { type: 'string' },
    oldReplicas: {
      type: 'object',
      additionalProperties: int32,
      description: 'Pods that do not run the update revision, by zone, before the last step.',
    },
    updateStep: { ...int32, description: 'Steps of this rollout that were done.' },
    deletedReplicas: { ...int32, description: 'Pods that the last step deleted.' },
    pausedRollout: { type: 'boolean', description: 'Whether the alarm paused the rollout.' },
    observedGeneration: {
      type: 'integer',
      format: 'int64',
      description: 'Generation of the spec that this status describes.',
    },
    conditions: {
      type: 'array',
      items: conditionSchema,
      description: 'Why the rollout waits, or goes on.',
    },
  },
};

/** The definition of ZoneAwareUpdate, with the names and types of the peer's. */
export const zoneAwareUpdateDefinition: JsonObject = definitionOf({
  type: resourceTypes.zoneAwareUpdates,
  names: { shortNames: ['zau'] },
  schema: schemaOf({ spec, status }),
});
