/** Values of the chart, and components of the kustomize base, that are tried. */
import type { JsonObject } from '#base/json.ts';

/** Values, and what they make that is not there by default, or no more. */
export interface Variant {
  readonly values: JsonObject;
  /** `Kind name` of objects that are added; `<namespace>` stands for that. */
  readonly adds?: readonly string[];
  /** `Kind` or `Kind name`, with or without the namespace at the end, of objects that are not there. */
  readonly lacks?: readonly string[];
}

const webhookObjects = [
  'ClusterRole',
  'ClusterRoleBinding',
  'MutatingWebhookConfiguration',
  'Role rollout-operator-webhook-cert-secret-role',
  'Role rollout-operator-webhook-role',
  'RoleBinding rollout-operator-webhook-cert-secret-role',
  'RoleBinding rollout-operator-webhook-role',
  'Secret',
  'ConfigMap',
  'Service',
  'ValidatingWebhookConfiguration',
];

const budgetRole = [
  'Role rollout-operator-budget-role',
  'RoleBinding rollout-operator-budget-role',
];

const phasedRole = [
  'Role rollout-operator-phased-rollout-role',
  'RoleBinding rollout-operator-phased-rollout-role',
];

const carrierRole = [
  'Role rollout-operator-statefulset-rollout-role',
  'RoleBinding rollout-operator-statefulset-rollout-role',
];

/** What the addresses of a NetworkPolicy look like. */
const addresses = [{ ipBlock: { cidr: '192.0.2.0/24' } }];

/** Keyed by what they are. */
export const chartVariants: Readonly<Record<string, Variant>> = {
  'the defaults': { values: {} },
  'one replica without webhooks': {
    values: { replicas: 1, webhooks: { enabled: false } },
    lacks: webhookObjects,
  },
  'webhooks without the zone tracker': {
    values: { zoneTracker: { enabled: false } },
    lacks: ['ConfigMap rollout-operator-zone-tracker'],
  },
  "the peer's Role": {
    values: { replicas: 1, rbac: { role: 'peer' } },
    lacks: [
      'Role rollout-operator-webhook-role',
      'RoleBinding rollout-operator-webhook-role',
      ...budgetRole,
    ],
  },
  "the peer's Role without webhooks": {
    values: { replicas: 1, rbac: { role: 'peer' }, webhooks: { enabled: false } },
    lacks: [...webhookObjects, ...budgetRole],
  },
  'no disruption budgets': {
    values: { disruptionBudgets: { enabled: false } },
    lacks: [...budgetRole, 'ValidatingWebhookConfiguration pod-eviction'],
  },
  PhasedRollouts: {
    values: { phasedRollouts: { enabled: true } },
    adds: [
      ...phasedRole,
      'ClusterRole rollout-operator-<namespace>-phased-rollout-webhook-cert-role',
      'ClusterRoleBinding rollout-operator-<namespace>-phased-rollout-webhook-cert-role',
      'MutatingWebhookConfiguration phased-rollout-defaults-<namespace>',
      'ValidatingWebhookConfiguration phased-rollout-validation-<namespace>',
    ],
  },
  'PhasedRollouts without webhooks': {
    values: { phasedRollouts: { enabled: true }, webhooks: { enabled: false } },
    adds: phasedRole,
    lacks: webhookObjects,
  },
  StatefulsetRollouts: {
    values: { statefulsetRollouts: { enabled: true } },
    adds: carrierRole,
  },
  'PhasedRollouts and StatefulsetRollouts without webhooks': {
    values: {
      phasedRollouts: { enabled: true },
      statefulsetRollouts: { enabled: true },
      webhooks: { enabled: false },
    },
    adds: [...phasedRole, ...carrierRole],
    lacks: webhookObjects,
  },
  'a ServiceMonitor, without webhooks': {
    values: { serviceMonitor: { enabled: true }, webhooks: { enabled: false } },
    adds: ['ServiceMonitor rollout-operator'],
    lacks: webhookObjects.filter((each) => each !== 'Service'),
  },
  'a NetworkPolicy': {
    values: {
      networkPolicy: {
        enabled: true,
        apiServers: addresses,
        nodes: addresses,
        prometheus: [{ namespaceSelector: {} }],
      },
    },
    adds: ['NetworkPolicy rollout-operator'],
  },
  'no PodDisruptionBudget': {
    values: { podDisruptionBudget: { enabled: false } },
    lacks: ['PodDisruptionBudget'],
  },
  'no definitions': {
    values: { crds: { enabled: false } },
    lacks: ['CustomResourceDefinition'],
  },
  'an account that is there already': {
    values: { serviceAccount: { create: false, name: 'there' } },
    lacks: ['ServiceAccount'],
  },
};

/** Each value of the chart of grafana/rollout-operator that this one takes, set to something else than by default. */
export const everyValueOfPeer: JsonObject = {
  global: { commonLabels: { team: 'databases' }, other: 'of another chart' },
  revisionHistoryLimit: 3,
  image: {
    registry: 'registry.example',
    repository: 'ours/operator',
    pullPolicy: 'Always',
    tag: 'v1',
  },
  imagePullSecrets: [{ name: 'pull' }],
  hostAliases: [{ ip: '192.0.2.1', hostnames: ['a.example'] }],
  hostNetwork: true,
  nameOverride: 'rolls',
  fullnameOverride: 'rolls-it',
  serviceAccount: { create: true, annotations: { a: 'b' }, name: 'roller' },
  crds: { enabled: true },
  annotations: { c: 'd' },
  podAnnotations: { e: 'f' },
  podLabels: { g: 'h' },
  podSecurityContext: { fsGroup: 2000 },
  securityContext: { runAsUser: 1000 },
  extraArgs: ['-log.level=info'],
  extraEnv: [{ name: 'NODE_OPTIONS', value: '--max-old-space-size=300' }],
  extraEnvFrom: [{ secretRef: { name: 'more', optional: true } }],
  resources: { limits: { memory: '600Mi' }, requests: { cpu: '200m' } },
  minReadySeconds: 10,
  nodeSelector: { disk: 'fast' },
  tolerations: [{ key: 'only', operator: 'Exists' }],
  affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
  priorityClassName: 'high',
  serviceMonitor: {
    enabled: true,
    namespace: 'default',
    namespaceSelector: { any: true },
    annotations: { i: 'j' },
    labels: { prometheus: 'main' },
    interval: '30s',
    scrapeTimeout: '10s',
    relabelings: [{ action: 'replace', targetLabel: 'cluster', replacement: 'one' }],
  },
  webhooks: {
    enabled: true,
    timeoutSeconds: 7,
    failurePolicy: 'Ignore',
    failurePolicies: {
      noDownscale: 'Fail',
      podEviction: 'Ignore',
      prepareDownscale: null,
      zpdbValidation: 'Ignore',
    },
    selfSignedCertSecretName: 'certificate',
    objectSelector: {},
    zoneAwarePodDisruptionBudgets: [
      {
        name: 'by-partition',
        labels: { k: 'l' },
        annotations: { m: 'p' },
        matchLabels: { app: 'ingester' },
        maxUnavailable: 2,
        podNamePartitionRegex: '[a-z]+-([0-9]+)',
        podNameRegexGroup: 1,
      },
      { name: 'by-percent', matchLabels: { app: 'store' }, maxUnavailablePercentage: 20 },
      { name: 'none', matchLabels: { app: 'other' }, maxUnavailable: 0 },
    ],
  },
  namespaceSelector: {
    matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['other'] }],
  },
};

/** Values that are refused, and with which words. */
export const refusals: Readonly<
  Record<string, { readonly values: JsonObject; readonly says: RegExp }>
> = {
  'an unknown value': {
    values: { replicaCount: 2 },
    says: /replicaCount/,
  },
  "a value of the peer's chart of the wrong type": {
    values: { minReadySeconds: 'soon' },
    says: /minReadySeconds/,
  },
  'a failure policy that the API does not have': {
    values: { webhooks: { failurePolicy: 'Retry' } },
    says: /failurePolicy/,
  },
  "the peer's image": {
    values: { image: { registry: 'docker.io', repository: 'grafana/rollout-operator' } },
    says: /image\.repository is "grafana\/rollout-operator", which is the program that this one replaces/,
  },
  'two replicas under a Role without leases': {
    values: { rbac: { role: 'peer' } },
    says: /replicas is 2, but rbac\.role "peer" permits no Lease/,
  },
  'two replicas without an election': {
    values: { extraArgs: ['-leader-election.enabled=false'] },
    says: /replicas is 2, but extraArgs switch the leader election off/,
  },
  'a failure policy of a webhook that is not installed': {
    values: {
      disruptionBudgets: { enabled: false },
      webhooks: { failurePolicies: { podEviction: 'Fail' } },
    },
    says: /webhooks\.failurePolicies\.podEviction is "Fail", but disruptionBudgets\.enabled is false/,
  },
  'budgets that the Role does not permit to obey': {
    values: {
      disruptionBudgets: { enabled: false },
      webhooks: { zoneAwarePodDisruptionBudgets: [{ name: 'a', matchLabels: { app: 'a' } }] },
    },
    says: /webhooks\.zoneAwarePodDisruptionBudgets has 1, but disruptionBudgets\.enabled is false/,
  },
  'a budget with two limits': {
    values: {
      webhooks: {
        zoneAwarePodDisruptionBudgets: [
          { name: 'a', matchLabels: {}, maxUnavailable: 0, maxUnavailablePercentage: 5 },
        ],
      },
    },
    says: /has "a" with both maxUnavailable and maxUnavailablePercentage: leave one out/,
  },
  'a budget that selects nothing': {
    values: { webhooks: { zoneAwarePodDisruptionBudgets: [{ name: 'a' }] } },
    says: /matchLabels/,
  },
  'an object selector, which no Scale matches': {
    values: { webhooks: { objectSelector: { matchLabels: { app: 'loki' } } } },
    says: /webhooks\.objectSelector is set, but a Scale has no labels/,
  },
  'reviews of every namespace': {
    values: { namespaceSelector: null },
    says: /namespaceSelector is null, but the operator may read the StatefulSets of its own namespace only/,
  },
  'reviews of another namespace': {
    values: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'other' } } },
    says: /namespaceSelector\.matchLabels must have "kubernetes\.io\/metadata\.name: cells" \(it has "other"\)/,
  },
  'a flag against the value for it': {
    values: { webhooks: { enabled: false }, extraArgs: ['--server-tls.enabled'] },
    says: /extraArgs set -server-tls\.enabled to true, but webhooks\.enabled is false/,
  },
  'a word that is no flag, after a boolean': {
    values: { extraArgs: ['-log.level', 'info', '-use-zone-tracker', 'true', '-server.port=9001'] },
    says: /extraArgs\[3\] is "true", which is no flag, so that the operator would read neither it nor what follows it: write flags as "-name=value", those that are true or false as "-name=true"/,
  },
  'a word that is no flag, first': {
    values: { extraArgs: ['info'] },
    says: /extraArgs\[0\] is "info", which is no flag/,
  },
  'two dashes, which end the flags': {
    values: { extraArgs: ['--use-zone-tracker', '--', '-server.port=9001'] },
    says: /extraArgs\[1\] is "--", which is no flag/,
  },
  'an empty argument': {
    values: { extraArgs: ['-log.level=info', ''] },
    says: /extraArgs\[1\] is "", which is no flag/,
  },
  'a flag that leads into another namespace': {
    values: { extraArgs: ['-kubernetes.namespace', 'other'] },
    says: /extraArgs set -kubernetes\.namespace to "other", but the Role is for "cells"/,
  },
  'the zone tracker without webhooks': {
    values: { webhooks: { enabled: false }, extraArgs: ['-use-zone-tracker'] },
    says: /extraArgs set -use-zone-tracker, but the webhooks write what it reads/,
  },
  'a variable that the operator needs': {
    values: { extraEnv: [{ name: 'NAMESPACE', value: 'x' }] },
    says: /extraEnv sets NAMESPACE/,
  },
  'a label of the selector for pods': {
    values: { podLabels: { 'app.kubernetes.io/name': 'x' } },
    says: /podLabels has "app\.kubernetes\.io\/name", by which the Deployment finds its pods/,
  },
  'a label of the chart for all': {
    values: { global: { commonLabels: { 'app.kubernetes.io/version': 'x' } } },
    says: /global\.commonLabels has "app\.kubernetes\.io\/version", which the chart sets itself/,
  },
  'a label by which webhook configurations are found': {
    values: { global: { commonLabels: { 'grafana.com/namespace': 'x' } } },
    says: /global\.commonLabels has "grafana\.com\/namespace", by which the operator finds its webhook configurations/,
  },
  'a label twice for the ServiceMonitor': {
    values: {
      global: { commonLabels: { team: 'one' } },
      serviceMonitor: { labels: { team: 'two' } },
    },
    says: /serviceMonitor\.labels has "team"/,
  },
  'a NetworkPolicy that locks all out': {
    values: { networkPolicy: { enabled: true } },
    says: /networkPolicy\.apiServers is empty(?:.|\n)*networkPolicy\.nodes is empty/,
  },
  'a NetworkPolicy for pods on the network of their node': {
    values: {
      networkPolicy: { enabled: true, apiServers: addresses, nodes: addresses },
      hostNetwork: true,
    },
    says: /no NetworkPolicy reaches pods with hostNetwork/,
  },
  'a condition of another chart, alone': {
    values: { enabled: false },
    says: /enabled is false, which is for a chart that has this one as a dependency/,
  },
};
