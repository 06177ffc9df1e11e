import type { JsonObject } from '#base/json.ts';
import { conditionSchema } from '#kubernetes/custom-resource/condition-schema.ts';
import { definitionOf } from '#kubernetes/custom-resource/custom-resource-definition.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import {
  discoveryRule,
  nameRule,
  repairRule,
  ruled,
  setRules,
  specRules,
  urlRule,
} from './definition-rules.ts';
import { phases } from './progress.ts';

function text(maxLength: number, description: string, more: JsonObject = {}): JsonObject {
  return { type: 'string', maxLength, description, ...more };
}

function integer([minimum, maximum]: readonly [number, number], description: string): JsonObject {
  return { type: 'integer', format: 'int32', minimum, maximum, description };
}

function words(names: readonly string[], description: string): JsonObject {
  return { type: 'string', enum: names, description };
}

function object(properties: JsonObject, more: JsonObject = {}): JsonObject {
  return { type: 'object', ...more, properties };
}

const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;
const flag = { type: 'boolean' } as const;
const time = { type: 'string', format: 'date-time' } as const;
const day = 86_400;

function secretKey(description: string): JsonObject {
  const properties = {
    name: text(253, 'Name of the Secret, in the same namespace.'),
    key: text(253, 'Key of the Secret.'),
  };
  return object(properties, { description, required: ['name', 'key'] });
}

const channel = text(
  81,
  'Channel of Slack for the progress: "#" and its name, or the id of a conversation.',
  {
    pattern: '^(#\\S+|[CGD][A-Z0-9]{7,})$',
  },
);

const stageId = text(128, 'What the receiver knows this rollout by.', {
  pattern: '^[A-Za-z0-9._:-]+$',
});

/** The template stays open: a schema of all that a pod may say would be old with the next release of Kubernetes. */
const carriedSet = ruled(
  object(
    {
      apiVersion: text(32, 'apps/v1.'),
      kind: text(32, 'StatefulSet.'),
      metadata: ruled(
        object(
          {
            name: text(253, 'Name of the StatefulSet.'),
            namespace: text(63, 'That of the resource.'),
          },
          { 'x-kubernetes-preserve-unknown-fields': true, required: ['name'] },
        ),
        nameRule,
      ),
      spec: object(
        {
          replicas: { type: 'integer', format: 'int32' },
          selector: open,
          template: open,
          updateStrategy: object({ type: text(32, 'OnDelete.') }, open),
        },
        { 'x-kubernetes-preserve-unknown-fields': true, required: ['selector', 'template'] },
      ),
    },
    {
      description: 'The wanted StatefulSet.',
      required: ['apiVersion', 'kind', 'metadata', 'spec'],
    },
  ),
  ...setRules,
);

const discovery = ruled(
  object(
    {
      dc: text(64, 'Datacenter of Consul; when empty, that of the agent.', {
        pattern: '^[A-Za-z0-9_-]+$',
      }),
      serviceNames: {
        type: 'array',
        description: 'Services in each of which a pod must pass.',
        maxItems: 20,
        'x-kubernetes-list-type': 'set',
        items: { type: 'string', minLength: 1, maxLength: 128, pattern: '^[^/?#\\s]+$' },
      },
      provider: words(['consul', 'none'], 'none: only Kubernetes is asked.'),
      consul: object({
        tokenSecretRef: secretKey('The ACL token; when empty, that of the operator.'),
        namespace: text(64, 'Of Consul Enterprise.', { pattern: '^[A-Za-z0-9_-]+$' }),
        partition: text(64, 'Of Consul Enterprise.', { pattern: '^[A-Za-z0-9_-]+$' }),
        onError: words(['Block', 'Ignore'], 'What a Consul means that cannot be asked.'),
      }),
    },
    { description: 'What must report a pod as healthy, in addition to Kubernetes.' },
  ),
  discoveryRule,
);

const spec = ruled(
  object(
    {
      statefulset: carriedSet,
      percent: integer([0, 100], 'Share of the pods that run the new version.'),
      minPodEvictionIntervalSeconds: integer([0, day], 'Time from one eviction to the next.'),
      pauseRequested: { ...flag, description: 'Whether no further pod goes for now.' },
      rolloutIdentity: text(253, 'Another one starts the rollout over.', {
        pattern: '^[A-Za-z0-9._-]*$',
      }),
      channel,
      bapi: ruled(
        object(
          { bapiUrl: text(2_048, 'Address of the deploy API.'), stageId },
          {
            description: 'The receiver that is called back at the end.',
            required: ['bapiUrl', 'stageId'],
          },
        ),
        urlRule('bapiUrl'),
      ),
      serviceDiscovery: discovery,
      notifications: object({
        slack: object({
          channel,
          level: words(
            ['debug', 'info', 'error'],
            'All pods, the summary alone, or failures alone.',
          ),
          tokenSecretRef: secretKey("The bot's token; when empty, that of the operator."),
        }),
      }),
      callback: object({
        webhook: ruled(
          object(
            {
              url: text(2_048, 'Called as it is.'),
              id: stageId,
              signingSecretRef: secretKey(
                'The key of the signature; when empty, that of the operator.',
              ),
            },
            { required: ['url', 'id'] },
          ),
          urlRule('url'),
        ),
      }),
      progressDeadlineSeconds: integer(
        [30, day],
        'Without any progress for so long it has failed.',
      ),
      rolloutTimeoutSeconds: integer(
        [0, 7 * day],
        'Of the whole rollout, pauses left out; 0 for none.',
      ),
      rollback: object({
        minPodEvictionIntervalSeconds: integer([0, day], 'The interval where pods go back.'),
        unreadyPods: words(['Evict', 'Delete'], 'How a broken pod goes that is taken back.'),
      }),
      replicasOwnership: words(
        ['Auto', 'Rollout', 'External'],
        'Who says how many replicas there are.',
      ),
      immutableFieldPolicy: words(
        ['Fail', 'RecreateOrphan'],
        'What is done about a change of an immutable field.',
      ),
      deletionPolicy: words(
        ['Auto', 'Delete', 'Orphan'],
        'What becomes of the set with the resource.',
      ),
      versionLeak: ruled(
        object({
          policy: words(['Report', 'Pin'], 'Whether an old pod that dies comes back old.'),
          repair: { ...flag, description: 'Whether leaked pods go back; only with Pin.' },
        }),
        repairRule,
      ),
      maxParallelWithoutBudget: integer([1, 100], 'How many pods go at once without a budget.'),
    },
    { required: ['statefulset', 'percent'] },
  ),
  ...specRules,
);

const count = { type: 'integer', format: 'int32' } as const;
const anyText = { type: 'string' } as const;

const status: JsonObject = object({
  phase: { type: 'string', enum: phases },
  percentDeployed: count,
  reason: text(1_024, 'A word, a colon, and what it means.'),
  readyReplicas: count,
  readyReplicasRotor: count,
  paused: flag,
  deleted: flag,
  pods: { type: 'array', items: open },
  podsOmitted: count,
  reconcileAfter: time,
  lastUpdated: time,
  lastCallbackStageId: anyText,
  buildMetadata: open,
  slackMessage: open,
  consulServices: { type: 'array', items: anyText },
  statefulsetName: anyText,
  statefulsetSpecCurrent: flag,
  rolloutIdentity: anyText,
  observedGeneration: { type: 'integer', format: 'int64' },
  replicas: count,
  conditions: { type: 'array', items: conditionSchema },
  rollout: open,
  leak: open,
});

/** The definition of StatefulsetRollout: the published names, and ours in addition. */
export const statefulsetRolloutDefinition: JsonObject = definitionOf({
  type: resourceTypes.statefulsetRollouts,
  names: { shortNames: ['sroll'] },
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Percent', type: 'integer', jsonPath: '.spec.percent' },
    { name: 'Deployed', type: 'integer', jsonPath: '.status.percentDeployed' },
    { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas' },
    { name: 'Replicas', type: 'integer', jsonPath: '.status.replicas' },
    { name: 'Paused', type: 'boolean', jsonPath: '.status.paused' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Version', type: 'string', priority: 1, jsonPath: '.status.buildMetadata.version' },
    { name: 'SD', type: 'integer', priority: 1, jsonPath: '.status.readyReplicasRotor' },
    { name: 'Current', type: 'boolean', priority: 1, jsonPath: '.status.statefulsetSpecCurrent' },
    { name: 'Leaked', type: 'integer', priority: 1, jsonPath: '.status.leak.leakedReplicas' },
    { name: 'Reason', type: 'string', priority: 1, jsonPath: '.status.reason' },
  ],
  schema: object(
    {
      apiVersion: anyText,
      kind: anyText,
      metadata: { type: 'object' },
      spec,
      status,
    },
    { required: ['spec'] },
  ),
});
