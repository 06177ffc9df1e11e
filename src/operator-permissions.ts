import { certificatePermissions } from '#certificate/permissions.ts';
import { leasePermissions } from '#kubernetes/lease-permissions.ts';
import type { Permission } from '#kubernetes/permission.ts';
import { replicaCoordinationPermissions } from '#replica-coordination/permissions.ts';
import { rolloutGroupPermissions } from '#rollout-group/permissions.ts';

/** All that the operator's Role must permit: what each capability states beside its code. */
export const operatorPermissions: readonly Permission[] = [
  ...rolloutGroupPermissions,
  ...replicaCoordinationPermissions,
  ...leasePermissions,
];

/** All that the certificate of the webhooks takes under the default flags, beyond {@link operatorPermissions}. */
export const webhookCertificatePermissions: readonly Permission[] = certificatePermissions(
  'rollout-operator-self-signed-certificate',
);

/** One rule of a Role, as RBAC has it. */
export interface RoleRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** `permissions` as the rules of a Role: one a resource, verbs sorted, in order of first mention. */
export function roleRules(permissions: readonly Permission[] = operatorPermissions): RoleRule[] {
  const rules = new Map<string, { readonly about: Permission; readonly verbs: Set<string> }>();
  for (const permission of permissions) {
    const { group, resource, resourceNames = [], verbs } = permission;
    const key = `${group}/${resource}/${resourceNames.join(',')}`;
    const rule = rules.get(key) ?? { about: permission, verbs: new Set() };
    rules.set(key, rule);
    for (const verb of verbs) rule.verbs.add(verb);
  }
  return [...rules.values()].map(({ about: { group, resource, resourceNames }, verbs }) => ({
    apiGroups: [group],
    resources: [resource],
    ...(resourceNames !== undefined && { resourceNames }),
    verbs: [...verbs].sort(),
  }));
}
