import type { JsonObject } from '#base/json.ts';

/** The rules of the ClusterRole and the Role of the peer: more than is used, and no right to delete pods. */
export const peerRules: readonly JsonObject[] = [
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
  { apiGroups: [''], resources: ['pods', 'secrets'], verbs: ['get', 'list', 'watch'] },
  {
    apiGroups: ['apps'],
    resources: ['statefulsets'],
    verbs: ['get', 'list', 'patch', 'update', 'watch'],
  },
  { apiGroups: ['apps'], resources: ['statefulsets/status'], verbs: ['get'] },
  {
    apiGroups: ['sts.plus'],
    resources: ['phasedrollouts'],
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  },
  { apiGroups: ['sts.plus'], resources: ['phasedrollouts/finalizers'], verbs: ['update'] },
  {
    apiGroups: ['sts.plus'],
    resources: ['phasedrollouts/status'],
    verbs: ['get', 'patch', 'update'],
  },
];
const peerOwnRules: readonly JsonObject[] = [
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
];

/** Name of the roles and their bindings. */
export const peerRole = 'phased';

/** The rules of a ClusterRole and of a Role in the operator's namespace. */
export interface AccountRules {
  /** Of the roles and their bindings. */
  readonly name: string;
  readonly everywhere: readonly JsonObject[];
  readonly own: readonly JsonObject[];
}

const phased: AccountRules = { name: peerRole, everywhere: peerRules, own: peerOwnRules };

/** The namespace, the account, and what it may do, as the peer installs them. */
export function peerAccount(
  ops: string,
  account: string,
  { name, everywhere, own }: AccountRules = phased,
): readonly JsonObject[] {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const subjects = [{ kind: 'ServiceAccount', name: account, namespace: ops }];
  const bound = (kind: string): JsonObject => ({
    apiGroup: 'rbac.authorization.k8s.io',
    kind,
    name,
  });
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: ops } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace: ops } },
    { apiVersion, kind: 'ClusterRole', metadata: { name }, rules: everywhere },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: bound('ClusterRole'),
      subjects,
    },
    { apiVersion, kind: 'Role', metadata: { name, namespace: ops }, rules: own },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata: { name, namespace: ops },
      roleRef: bound('Role'),
      subjects,
    },
  ];
}
