import type { JsonObject } from '#base/json.ts';

/** The namespace in which benches work. */
export const namespace = 'bench';

/** The user that the operator is. */
export const operatorUser = 'system:serviceaccount:bench:rollout-operator';

/** Groups to be created; all alike. */
export interface GroupsOptions {
  readonly groups: number;
  /** Sets a group; the last group gets fewer when `sets` says so. */
  readonly zones: number;
  /** Sets in all. @default groups × zones */
  readonly sets?: number;
  readonly podsPerSet: number;
  readonly maxUnavailable: number;
  /** Size of each pod as JSON, to be reached by padding its template; 0: none. */
  readonly podBytes: number;
}

/** Names a set, and says to which group it belongs. */
export interface SetName {
  readonly name: string;
  readonly group: string;
}

/** The sets of `options`, group by group. */
export function setNames(options: GroupsOptions): readonly SetName[] {
  const { groups, zones, sets = groups * zones } = options;
  return Array.from({ length: sets }, (_, index) => {
    const group = `group-${Math.floor(index / zones)}`;
    return { group, name: `${group}-zone-${'abcdefgh'.charAt(index % zones)}` };
  });
}

/** Images of the revision that pods start with and of the one that they are rolled to. */
export const images = ['registry.example/store:1', 'registry.example/store:2'] as const;

/** Bytes that a ready pod has beside what its template pads it with. */
const plainPodBytes = 1_900;

/** The StatefulSet `set` of `options`. */
export function statefulSet({ name, group }: SetName, options: GroupsOptions): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      name,
      namespace,
      // The label `app` is the one that its pods have: budgets select both by it.
      labels: { 'rollout-group': group, app: group },
      annotations: { 'rollout-max-unavailable': String(options.maxUnavailable) },
    },
    spec: {
      replicas: options.podsPerSet,
      serviceName: name,
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: { name } },
      template: podTemplate({ name, app: group }, options.podBytes),
    },
  };
}

/**
 * A template that makes pods of about `bytes`: nested variables as pods of databases have them, for half of the
 * padding, and annotations as long texts, for the rest.
 */
export function podTemplate(labels: JsonObject, bytes: number): JsonObject {
  const missing = Math.max(0, bytes - plainPodBytes);
  const text = 'x'.repeat(Math.ceil(missing / 2));
  return {
    metadata: { labels, ...(missing > 0 && { annotations: { 'bench.example/padding': text } }) },
    spec: {
      containers: [
        {
          name: 'store',
          image: images[0],
          args: ['-target=store', '-config.file=/etc/store/config.yaml'],
          ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
          resources: { requests: { cpu: '1', memory: '4Gi' }, limits: { memory: '8Gi' } },
          env: variables(missing / 2),
          volumeMounts: [{ name: 'config', mountPath: '/etc/store' }],
        },
      ],
      volumes: [{ name: 'config', configMap: { name: 'store', defaultMode: 420 } }],
    },
  };
}

function variables(bytes: number): readonly JsonObject[] {
  const variable = (index: number): JsonObject => ({
    name: `STORE_SETTING_NUMBER_${index}`,
    valueFrom: {
      configMapKeyRef: { name: 'store-settings', key: `setting-number-${index}`, optional: true },
    },
  });
  const each = JSON.stringify(variable(100)).length + 1;
  return Array.from({ length: Math.floor(bytes / each) }, (_, index) => variable(index + 100));
}

/** A pod that is alone and never runs, without the status and the owner of others; about `bytes` as JSON. */
export function barePod(name: string, bytes: number): JsonObject {
  const template = podTemplate({ app: 'bare' }, bytes + 620);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    ...template,
    metadata: { ...Object(template['metadata']), name, namespace } as JsonObject,
  };
}
