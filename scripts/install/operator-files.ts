/** deploy: what a cluster needs to run the operator of groups in one namespace, and its webhooks. */
import { CLAIMS_NAME } from '#admission/claim/claim.ts';
import {
  webhookConfigurations,
  webhookService,
} from '#admission/webhook-configuration/webhook-configurations.ts';
import { zoneAwarePodDisruptionBudgetDefinition } from '#disruption-budget/api.ts';
import { budgetPermissions } from '#disruption-budget/permissions.ts';
import type { Permission } from '#kubernetes/authorization/permission.ts';
import {
  operatorPermissions,
  roleRules,
  usualNames,
  webhookPermissions,
} from '#operator/permissions/permissions.ts';
import { replicaTemplateDefinition } from '#replica-coordination/replica-template.ts';
import { deployment, heapPercentage, name, plain, podLabels, withWebhooks } from './deployment.ts';
import { documents, header, manifest, placed, reasons, yaml } from './manifest-text.ts';

/** The namespace of the examples. */
export const exampleNamespace = 'demo';

/** Shows what to write; nobody's cluster is as it says, so that it is not applied with the rest. */
export const exampleFile = 'network-policy-example.yaml';

/** Of the Role that obeying disruption budgets takes. */
export const budgetRole = `${name}-budget-role`;

/** Returns the manifests by file name. */
export function deployFiles(
  image: string,
  namespace: string = exampleNamespace,
): Readonly<Record<string, string>> {
  const { webhooks, certificate, cluster } = webhookPermissions(namespace);
  return {
    'budget-role.yaml': `${header}${reasons(budgetPermissions)}${roleWithBinding(budgetRole, budgetPermissions)}`,
    'deployment.yaml': `${header}${heapReason}${yaml(deployment(image, plain))}`,
    'deployment-with-webhooks.yaml': `${header}${heapReason}${yaml(deployment(image, withWebhooks))}`,
    [exampleFile]: `${header}${policyReason}${yaml(networkPolicy)}`,
    'pod-disruption-budget.yaml': manifest(podDisruptionBudget),
    'replica-template-definition.yaml': manifest(replicaTemplateDefinition),
    'role-binding.yaml': manifest(roleBinding),
    'role.yaml': `${header}${reasons(operatorPermissions)}${yaml(role)}`,
    'service-account.yaml': manifest({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name },
    }),
    'webhook-certificate-cluster-role.yaml': `${header}${placed(namespace)}${reasons(cluster)}${clusterRoleWithBinding(namespace, cluster)}`,
    'webhook-certificate-role.yaml': `${header}${reasons(certificate)}${roleWithBinding(`${name}-webhook-cert-secret-role`, certificate)}`,
    'webhook-configurations.yaml': `${header}${placed(namespace)}${documents(webhookConfigurations({ namespace }))}`,
    'webhook-objects.yaml': `${header}${emptyReason}${documents(emptyObjects)}`,
    'webhook-service.yaml': manifest(webhookService(podLabels)),
    'zone-aware-pod-disruption-budget-definition.yaml': manifest(
      zoneAwarePodDisruptionBudgetDefinition,
    ),
    'webhook-role.yaml': `${header}${reasons(webhooks)}${roleWithBinding(`${name}-webhook-role`, webhooks)}`,
  };
}

const emptyReason = `#
# What the operator writes, made empty here: so its Roles name what may be written, and permit creating nothing.
# Applying this again leaves what was written as it is.
`;

const emptyObjects: readonly object[] = [
  { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata: { name: usualNames.secret } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: CLAIMS_NAME } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: usualNames.zoneTracker } },
];

/** The ClusterRole with its binding to the account in `namespace`. */
export function clusterRoleWithBinding(
  namespace: string,
  permissions: readonly Permission[],
): string {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { name: `${name}-${namespace}-webhook-cert-update-role` };
  return documents([
    { apiVersion, kind: 'ClusterRole', metadata, rules: roleRules(permissions) },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name: `${name}-${namespace}-webhook-cert-secret-rolebinding` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  ]);
}

const role = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { name },
  rules: roleRules(),
};

const roleBinding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
  subjects: [{ kind: 'ServiceAccount', name }],
};

/** A Role with its binding to the account of the operator, as two documents. */
export function roleWithBinding(roleName: string, permissions: readonly Permission[]): string {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { name: roleName };
  const webhookRole = { apiVersion, kind: 'Role', metadata, rules: roleRules(permissions) };
  const binding = {
    apiVersion,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: roleName },
    subjects: [{ kind: 'ServiceAccount', name }],
  };
  return documents([webhookRole, binding]);
}

const heapReason = `#
# The heap ends at ${heapPercentage} % of the memory limit, so that it is full before the container is: that is said in the log, the other is not.
`;

/** Lets nodes be drained one after the other, also where there is one replica only. */
export const podDisruptionBudget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name },
  spec: { maxUnavailable: 1, selector: { matchLabels: podLabels } },
};

const policyReason = `#
# An example: put in your addresses and labels, and apply it by itself. The first peers are the API servers that call
# the webhooks, the second the nodes whose kubelets probe, the third Prometheus. Any other client that reaches the port of the
# webhooks, and knows a set as it is stored, can have its pods prepared for a scale-down that never happens.
`;

/** The addresses are those that RFC 5737 sets aside for documentation. */
export const networkPolicy = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name },
  spec: {
    podSelector: { matchLabels: podLabels },
    policyTypes: ['Ingress'],
    ingress: [
      {
        from: [{ ipBlock: { cidr: '192.0.2.0/24' } }],
        ports: [{ protocol: 'TCP', port: 'https' }],
      },
      {
        from: [{ ipBlock: { cidr: '198.51.100.0/24' } }],
        ports: [{ protocol: 'TCP', port: 'http-metrics' }],
      },
      {
        from: [
          {
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } },
            podSelector: { matchLabels: { 'app.kubernetes.io/name': 'prometheus' } },
          },
        ],
        ports: [{ protocol: 'TCP', port: 'http-metrics' }],
      },
    ],
  },
};
