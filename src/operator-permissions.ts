import type { Permission } from '#kubernetes/permission.ts';
import { replicaCoordinationPermissions } from '#replica-coordination/permissions.ts';
import { rolloutGroupPermissions } from '#rollout-group/permissions.ts';

/** All that the operator's Role must permit: what each capability states beside its code. */
export const operatorPermissions: readonly Permission[] = [
  ...rolloutGroupPermissions,
  ...replicaCoordinationPermissions,
];

/** One rule of a Role, as RBAC has it. */
export interface RoleRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** `permissions` as the rules of a Role: one a resource, verbs sorted, in order of first mention. */
export function roleRules(permissions: readonly Permission[] = operatorPermissions): RoleRule[] {
  const verbs = new Map<string, Set<string>>();
  const rules: { group: string; resource: string; verbs: Set<string> }[] = [];
  for (const permission of permissions) {
    const { group, resource } = permission;
    const key = `${group}/${resource}`;
    const known = verbs.get(key) ?? new Set();
    if (!verbs.has(key)) rules.push({ group, resource, verbs: known });
    verbs.set(key, known);
    for (const verb of permission.verbs) known.add(verb);
  }
  return rules.map((rule) => ({
    apiGroups: [rule.group],
    resources: [rule.resource],
    verbs: [...rule.verbs].sort(),
  }));
}
