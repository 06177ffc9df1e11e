/** deploy/all: what a cluster needs beyond deploy/ to run every capability in one process. */
import { sharedPhasedConfigurations } from '#admission/webhook-configuration/phased-webhook-configurations.ts';
import { sharedZoneConfiguration } from '#admission/webhook-configuration/zone-webhook-configuration.ts';
import type { Permission } from '#kubernetes/authorization/permission.ts';
import { allPermissions } from '#operator/permissions/all-permissions.ts';
import { roleRules } from '#operator/permissions/permissions.ts';
import { deployment, name, type SetUp, withWebhooks } from './deployment.ts';

/** With webhooks, and every capability. */
export const everything: SetUp = { ...withWebhooks, args: ['all', ...withWebhooks.args] };

/** A manifest, and what it permits. */
export interface AllFile {
  readonly objects: readonly object[];
  readonly permissions: readonly Permission[];
}

const apiGroup = 'rbac.authorization.k8s.io';

/** Returns the manifests by file name, for an operator in `namespace`. */
export function allObjects(image: string, namespace: string): Readonly<Record<string, AllFile>> {
  const { own, cluster, carriers, zones } = allPermissions(namespace);
  return {
    'deployment.yaml': { objects: [deployment(image, everything)], permissions: [] },
    'role.yaml': {
      objects: granted({ kind: 'Role', of: `${name}-phased-rollout` }, own),
      permissions: own,
    },
    'webhook-certificate-cluster-role.yaml': {
      objects: granted(
        { kind: 'ClusterRole', of: `${name}-${namespace}-phased-rollout-webhook-cert`, namespace },
        cluster,
      ),
      permissions: cluster,
    },
    'statefulset-rollout-role.yaml': {
      objects: granted({ kind: 'Role', of: `${name}-statefulset-rollout` }, carriers),
      permissions: carriers,
    },
    'zone-role.yaml': {
      objects: granted({ kind: 'Role', of: `${name}-zone-aware` }, zones.own),
      permissions: zones.own,
    },
    'zone-cluster-role.yaml': {
      objects: granted(
        { kind: 'ClusterRole', of: `${name}-${namespace}-zone-aware`, namespace },
        zones.cluster,
      ),
      permissions: zones.cluster,
    },
    'zone-webhook-configuration.yaml': {
      objects: [sharedZoneConfiguration({ namespace })],
      permissions: [],
    },
    'webhook-configurations.yaml': {
      objects: sharedPhasedConfigurations({ namespace }),
      permissions: [],
    },
  };
}

/** A role with its binding to the account of the operator. */
function granted(
  {
    kind,
    of,
    namespace,
  }: { readonly kind: 'Role' | 'ClusterRole'; readonly of: string; readonly namespace?: string },
  permissions: readonly Permission[],
): readonly object[] {
  const apiVersion = `${apiGroup}/v1`;
  const roleName = `${of}-role`;
  return [
    { apiVersion, kind, metadata: { name: roleName }, rules: roleRules(permissions) },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata: { name: `${of}-rolebinding` },
      roleRef: { apiGroup, kind, name: roleName },
      subjects: [{ kind: 'ServiceAccount', name, ...(namespace !== undefined && { namespace }) }],
    },
  ];
}
