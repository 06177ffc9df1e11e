import type { JsonObject } from '#base/json.ts';
import { querySchema } from '#check/prometheus/query-schema.ts';
import { conditionSchema } from '#kubernetes/custom-resource/condition-schema.ts';
import { definitionOf, schemaOf } from '#kubernetes/custom-resource/custom-resource-definition.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { mostAdditionalQueries } from './spec/parse-queries.ts';

/** Returns an integer as the peer's schema has it. */
function int32(minimum: number, description: string): JsonObject {
  return { type: 'integer', format: 'int32', minimum, description };
}

const time = { type: 'string', format: 'date-time' } as const;

const query: JsonObject = {
  type: 'object',
  description: 'The query to Prometheus. An answer with data is a success.',
  required: ['expr', 'url'],
  properties: querySchema,
};

const additionalQueries: JsonObject = {
  type: 'array',
  description:
    'Further queries of each check, which passes when all of them do. One without a url is sent to the server of the query, with the same credentials. An extension of this operator.',
  maxItems: mostAdditionalQueries,
  items: {
    type: 'object',
    required: ['name', 'expr'],
    properties: {
      name: { type: 'string', minLength: 1, description: 'Names it in messages.' },
      ...querySchema,
    },
  },
};

const failureBudget: JsonObject = {
  type: 'object',
  description:
    'How many checks of a step may fail. Without it a failing check is waited out. An extension of this operator.',
  properties: {
    consecutiveFailures: int32(1, 'Failing checks in a row with which it is spent.'),
    totalFailures: int32(1, 'Failing checks of one step with which it is spent.'),
    onFailure: {
      type: 'string',
      description:
        'What is done then: Pause, as where nothing is written, or Rollback, which replaces the pods of the new revision by those of the one before.',
      enum: ['Pause', 'Rollback'],
    },
  },
};

const check: JsonObject = {
  type: 'object',
  description: 'What must hold before the next pod is updated.',
  required: ['query'],
  properties: {
    initialDelaySeconds: int32(0, 'How long all pods must be available before the first query.'),
    periodSeconds: int32(0, 'Time from one check to the next.'),
    successThreshold: int32(1, 'Successes on end that release the next pod.'),
    query,
    additionalQueries,
    failureBudget,
  },
};

/** None of the defaults is here: they are the webhook's, and the program's own where that is off. */
const spec: JsonObject = {
  type: 'object',
  required: ['check', 'targetRef'],
  properties: {
    targetRef: { type: 'string', description: 'Name of the StatefulSet, in the same namespace.' },
    standardRollingUpdate: {
      type: 'boolean',
      description: 'Whether updates roll without any check.',
    },
    stepSize: int32(
      1,
      'How many pods go, one after the other, from one analysis to the next; 1 by default. An extension of this operator.',
    ),
    dryRun: {
      type: 'boolean',
      description:
        'Whether changes to the StatefulSet and its pods are only reported, and not made. An extension of this operator.',
    },
    check,
  },
};

const counter = { type: 'integer', format: 'int32' } as const;

const rollingPodStatus: JsonObject = {
  type: 'object',
  description: 'The step that the rollout is at.',
  required: [
    'consecutiveFailedChecks',
    'consecutiveSuccessfulChecks',
    'partition',
    'totalFailedChecks',
  ],
  properties: {
    status: { type: 'string' },
    partition: counter,
    // Misspelt by the peer, and therefore here.
    analisysStartTime: time,
    lastCheckTime: time,
    consecutiveSuccessfulChecks: counter,
    consecutiveFailedChecks: counter,
    totalFailedChecks: counter,
    checkedPartition: {
      ...counter,
      description: 'Partition at which the checks last passed, where a step has several pods.',
    },
    bypassedPartition: {
      ...counter,
      description:
        'Partition before another client lowered it in mid-rollout, so that pods went without a check.',
    },
  },
};

const status: JsonObject = {
  type: 'object',
  properties: {
    phase: { type: 'string' },
    updateRevision: { type: 'string' },
    rolloutStartTime: time,
    rolloutEndTime: time,
    conditions: { type: 'array', items: conditionSchema },
    rollingPodStatus,
  },
};

/** The definition of PhasedRollout, with the names, types and limits of the peer's. */
export const phasedRolloutDefinition: JsonObject = definitionOf({
  type: resourceTypes.phasedRollouts,
  columns: [
    {
      name: 'target-ref',
      type: 'string',
      description: 'The StatefulSet that is rolled out in phases.',
      jsonPath: '.spec.targetRef',
    },
    { name: 'phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'partition', type: 'string', jsonPath: '.status.rollingPodStatus.partition' },
    { name: 'rolling-pod-status', type: 'string', jsonPath: '.status.rollingPodStatus.status' },
    { name: 'rollout-start-time', type: 'date', jsonPath: '.status.rolloutStartTime' },
    { name: 'rollout-end-time', type: 'date', jsonPath: '.status.rolloutEndTime' },
    { name: 'age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  schema: schemaOf({ spec, status }),
});
