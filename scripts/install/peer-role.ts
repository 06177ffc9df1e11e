/** The Roles of grafana/rollout-operator as it ships them: those that may not change them run this operator under them. */
import type { RoleRule } from '#operator/permissions/permissions.ts';

/** Its Role, as far as this version's capabilities reach. */
export const peerRules: readonly RoleRule[] = [
  { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch', 'get', 'delete', 'patch'] },
  { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['list', 'watch', 'get', 'patch'] },
  { apiGroups: ['apps'], resources: ['statefulsets/status'], verbs: ['update'] },
  {
    apiGroups: ['rollout-operator.grafana.com'],
    resources: ['zoneawarepoddisruptionbudgets'],
    verbs: ['get', 'list', 'watch'],
  },
  {
    apiGroups: ['rollout-operator.grafana.com'],
    resources: ['replicatemplates/scale', 'replicatemplates/status'],
    verbs: ['get', 'patch'],
  },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create', 'update'] },
];

/** What it adds for webhooks. @param secret the name of the Secret of the certificate */
export function peerCertificateRules(secret: string): readonly RoleRule[] {
  return [
    { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
    { apiGroups: [''], resources: ['secrets'], resourceNames: [secret], verbs: ['update', 'get'] },
  ];
}

/** What it adds for webhooks in the cluster. */
export const peerClusterRules: readonly RoleRule[] = [
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'],
    verbs: ['list', 'patch', 'watch'],
  },
];
