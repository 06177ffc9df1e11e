/** What the installs in place of controller-runtime's managers have in common. */
import type { Permission } from '#kubernetes/authorization/permission.ts';
import { roleRules } from '#operator/permissions/permissions.ts';

/** Where a manager is installed, and under which names. */
export interface ManagerPlace {
  readonly namespace: string;
  /** Begins the names of its objects. */
  readonly prefix: string;
  /** Of its objects. */
  readonly labels: Readonly<Record<string, string>>;
  /** Of its pods. */
  readonly podLabels: Readonly<Record<string, string>>;
  /** Whole name of the service account. */
  readonly account: string;
}

/** Numeric: a kubelet cannot tell that a user by name is not root. */
const user = 65_532;
const rbac = 'rbac.authorization.k8s.io';

/** Of its pods. */
export const managerSecurity = {
  runAsNonRoot: true,
  runAsUser: user,
  runAsGroup: user,
  seccompProfile: { type: 'RuntimeDefault' },
} as const;

/** Returns the metadata of the object `name` in the namespace. */
export function placedAs(name: string, { namespace, labels }: ManagerPlace): object {
  return { name, namespace, labels };
}

/** Returns a Role or ClusterRole `<prefix><what>-role` with its binding. */
export function roleObjects(
  kind: 'Role' | 'ClusterRole',
  { what, permissions }: { readonly what: string; readonly permissions: readonly Permission[] },
  place: ManagerPlace,
): readonly object[] {
  const { prefix, labels, namespace, account } = place;
  const metadataOf = (suffix: string): object => {
    const name = `${prefix}${what}-${suffix}`;
    return kind === 'ClusterRole' ? { name, labels } : placedAs(name, place);
  };
  const apiVersion = `${rbac}/v1`;
  return [
    { apiVersion, kind, metadata: metadataOf('role'), rules: roleRules(permissions) },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata: metadataOf('rolebinding'),
      roleRef: { apiGroup: rbac, kind, name: `${prefix}${what}-role` },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
    },
  ];
}

/** Returns the Service `<prefix><name>`, which leads to the pods. */
export function httpsService(
  name: string,
  { port, targetPort }: { readonly port: number; readonly targetPort: number },
  place: ManagerPlace,
): object {
  const ports = [{ name: 'https', port, protocol: 'TCP', targetPort }];
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: placedAs(`${place.prefix}${name}`, place),
    spec: { ports, selector: place.podLabels },
  };
}
