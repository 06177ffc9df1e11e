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
export const addresses = [{ ipBlock: { cidr: '192.0.2.0/24' } }];

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
  'CAs of the clients of webhooks': {
    values: { webhooks: { clientCaConfigMap: 'api-server-ca' } },
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
