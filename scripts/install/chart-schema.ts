/** values.schema.json of the chart: a value that nothing reads is refused, not ignored. */

type Schema = Readonly<Record<string, unknown>>;

const string: Schema = { type: 'string' };
const boolean: Schema = { type: 'boolean' };
const words: Schema = { type: ['object', 'null'], additionalProperties: { type: 'string' } };
const anyObject: Schema = { type: ['object', 'null'] };
const stringOrNull: Schema = { type: ['string', 'null'] };
const policy: Schema = { enum: ['Fail', 'Ignore', '', null] };

function count(minimum: number, maximum?: number): Schema {
  return { type: 'integer', minimum, ...(maximum !== undefined && { maximum }) };
}

function listOf(items: Schema): Schema {
  return { type: ['array', 'null'], items };
}

/** @param required what templates read without asking: helm takes a value that is null for one that is not there */
function only(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema {
  const demanded = required.length > 0 && { required };
  return { type: 'object', properties, ...demanded, additionalProperties: false };
}

const objects = listOf({ type: 'object' });
const secretNames = listOf(only({ name: string }));

/** A budget as the peer's chart has it, and its delay. */
const budget = only(
  {
    name: { type: 'string', minLength: 1 },
    labels: words,
    annotations: words,
    matchLabels: { type: 'object', additionalProperties: { type: 'string' } },
    maxUnavailable: { type: ['integer', 'null'], minimum: 0 },
    maxUnavailablePercentage: { type: ['integer', 'null'], minimum: 0, maximum: 100 },
    podNamePartitionRegex: stringOrNull,
    podNameRegexGroup: { type: ['integer', 'null'], minimum: 1 },
    crossZoneEvictionDelay: stringOrNull,
  },
  ['name', 'matchLabels'],
);

const ofPods: Readonly<Record<string, Schema>> = {
  podAnnotations: words,
  podLabels: words,
  podSecurityContext: anyObject,
  securityContext: anyObject,
  extraArgs: listOf(string),
  extraEnv: listOf({ type: 'object', required: ['name'], properties: { name: string } }),
  extraEnvFrom: objects,
  resources: anyObject,
  nodeSelector: words,
  tolerations: objects,
  affinity: anyObject,
  priorityClassName: string,
  hostAliases: objects,
  hostNetwork: boolean,
  imagePullSecrets: secretNames,
};

const ofWebhooks = only(
  {
    enabled: boolean,
    timeoutSeconds: count(1, 30),
    failurePolicy: policy,
    failurePolicies: {
      type: ['object', 'null'],
      properties: {
        noDownscale: policy,
        prepareDownscale: policy,
        podEviction: policy,
        zpdbValidation: policy,
      },
      additionalProperties: false,
    },
    selfSignedCertSecretName: { type: 'string', minLength: 1 },
    clientCaConfigMap: stringOrNull,
    objectSelector: anyObject,
    zoneAwarePodDisruptionBudgets: listOf(budget),
  },
  ['enabled', 'selfSignedCertSecretName'],
);

const ofMonitor = only({
  enabled: boolean,
  namespace: stringOrNull,
  namespaceSelector: anyObject,
  annotations: words,
  labels: words,
  interval: stringOrNull,
  scrapeTimeout: stringOrNull,
  relabelings: objects,
});

/** Values that hold others; crds is read by helm alone. */
const groups = [
  'global',
  'image',
  'serviceAccount',
  'rbac',
  'podDisruptionBudget',
  'disruptionBudgets',
  'phasedRollouts',
  'statefulsetRollouts',
  'networkPolicy',
  'serviceMonitor',
  'webhooks',
  'zoneTracker',
] as const;

/** See above. What an umbrella chart adds is known: `global` of others, and `enabled` as its condition. */
export const chartSchema: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  ...only(
    {
      global: { type: 'object', properties: { commonLabels: words } },
      enabled: boolean,
      replicas: count(0),
      revisionHistoryLimit: count(0),
      minReadySeconds: count(0),
      image: only(
        {
          registry: stringOrNull,
          repository: { type: 'string', minLength: 1 },
          pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
          tag: stringOrNull,
        },
        ['repository'],
      ),
      nameOverride: string,
      fullnameOverride: string,
      serviceAccount: only({ create: boolean, annotations: words, name: string }, ['create']),
      rbac: only({ role: { enum: ['ours', 'peer'] } }),
      crds: {
        type: 'object',
        properties: { enabled: boolean, global: anyObject },
        additionalProperties: false,
      },
      annotations: words,
      ...ofPods,
      podDisruptionBudget: only({ enabled: boolean }),
      disruptionBudgets: only({ enabled: boolean }, ['enabled']),
      phasedRollouts: only({ enabled: boolean }, ['enabled']),
      statefulsetRollouts: only({ enabled: boolean }, ['enabled']),
      networkPolicy: only({
        enabled: boolean,
        apiServers: objects,
        nodes: objects,
        prometheus: objects,
      }),
      serviceMonitor: ofMonitor,
      webhooks: ofWebhooks,
      zoneTracker: only({ enabled: boolean, configMapName: { type: 'string', minLength: 1 } }, [
        'enabled',
        'configMapName',
      ]),
      namespaceSelector: {
        type: ['object', 'null'],
        properties: { matchLabels: words, matchExpressions: objects },
        additionalProperties: false,
      },
    },
    groups,
  ),
};
