/** The operator's ServiceAccount on a real cluster, with exactly one of two Roles, and its token. */
import { CLAIMS_NAME } from '#admission/claim/claim.ts';
import type { JsonObject } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import { budgetPermissions } from '#disruption-budget/permissions.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import {
  operatorPermissions,
  type RoleRule,
  roleRules,
  usualNames,
  webhookPermissions,
} from '#operator/permissions/permissions.ts';
import { statefulsetFrontPermissions } from '#operator/permissions/statefulset-permissions.ts';
import {
  peerCertificateRules,
  peerClusterRules,
  peerRules,
} from '../../../scripts/install/peer-role.ts';

/** The namespace of the operators' accounts; the audit policy knows it. */
export const ACCOUNTS_NAMESPACE = 'operators';

/** Namespaces with an account that something installs; the audit policy knows them. */
export const INSTALLED_NAMESPACES = Object.freeze([
  'installed-chart',
  'installed-plain',
  'installed-peer',
  'installed-named',
  'installed-bases',
  'installed-helm',
] as const);

/** Whose Role the operator runs under (D-1). */
export type RoleName = 'ours' | 'peer' | 'statefulset-rollout';

const { own, watched } = statefulsetFrontPermissions;
const rulesOf: Readonly<Record<RoleName, readonly RoleRule[]>> = {
  ours: roleRules([...operatorPermissions, ...budgetPermissions]),
  peer: peerRules,
  'statefulset-rollout': roleRules([...own, ...watched]),
};

interface WebhookRules {
  readonly inNamespace: readonly RoleRule[];
  readonly inCluster: readonly RoleRule[];
}

/** What the set-up with webhooks adds, in the namespace and in the cluster; the peer's as in its manifests. */
const webhookRulesOf: Readonly<Record<RoleName, (namespace: string) => WebhookRules>> = {
  ours: (namespace) => {
    const { webhooks, certificate, cluster } = webhookPermissions(namespace);
    return {
      inNamespace: roleRules([...webhooks, ...certificate]),
      inCluster: roleRules(cluster),
    };
  },
  peer: () => ({
    inNamespace: peerCertificateRules(usualNames.secret),
    inCluster: peerClusterRules,
  }),
  // It has no webhooks.
  'statefulset-rollout': () => ({ inNamespace: [], inCluster: [] }),
};

/** Makes empty what our Roles permit writing, but not creating, as the manifests do. */
async function createShippedObjects(admin: Client, namespace: string): Promise<void> {
  const { secrets, configMaps } = resourceTypes;
  for (const [type, name] of [
    [secrets, usualNames.secret],
    [configMaps, CLAIMS_NAME],
    [configMaps, usualNames.zoneTracker],
  ] as const) {
    await admin.create(type, { namespace }, { body: { metadata: { name } } });
  }
}

/** An account that may do in one namespace what one Role says. */
export interface OperatorAccount {
  /** As the audit log names it. */
  readonly user: string;
  readonly token: string;
}

/** What an account is made for. */
export interface AccountOptions {
  readonly namespace: string;
  readonly role: RoleName;
  /** Tells several accounts of one namespace apart. @default operator */
  readonly who?: string;
}

/** Makes a ServiceAccount for the operator of a namespace, binds it to a Role there, and asks for its token. */
export async function createAccount(
  admin: Client,
  { namespace, role, who = 'operator' }: AccountOptions,
): Promise<OperatorAccount> {
  const name = `${namespace}-${who}`;
  const accounts = `/api/v1/namespaces/${ACCOUNTS_NAMESPACE}/serviceaccounts`;
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const post = (path: string, body: JsonObject): ReturnType<Client['raw']> =>
    admin.raw({ method: 'POST', path, body });
  await post(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } });
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const rules = rulesOf[role].map((rule) => ({ ...rule }));
  await post(`${rbac}/roles`, { apiVersion, kind: 'Role', metadata: { name }, rules });
  await post(`${rbac}/rolebindings`, bindingOf('Role', name, name));
  return accountOf(admin, ACCOUNTS_NAMESPACE, name);
}

/** The account `name` of `namespace` with a token. */
export async function accountOf(
  admin: Client,
  namespace: string,
  name: string,
): Promise<OperatorAccount> {
  const answer = await admin.raw({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 3600 },
    },
  });
  return { user: `system:serviceaccount:${namespace}:${name}`, token: tokenIn(answer) };
}

/** Lets the account of the operator of `namespace` do what webhooks take under `role`. */
export async function permitWebhooks(
  admin: Client,
  namespace: string,
  role: RoleName,
): Promise<void> {
  const account = `${namespace}-operator`;
  const metadata = { name: `${account}-webhooks` };
  const { name } = metadata;
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const rbac = `/apis/${apiVersion}`;
  const inside = `${rbac}/namespaces/${namespace}`;
  const { inNamespace, inCluster } = webhookRulesOf[role](namespace);
  if (role === 'ours') await createShippedObjects(admin, namespace);
  const post = (path: string, body: JsonObject): ReturnType<Client['raw']> =>
    admin.raw({ method: 'POST', path, body });
  const rulesIn = (rules: readonly RoleRule[]): JsonObject[] => rules.map((rule) => ({ ...rule }));
  await post(`${inside}/roles`, {
    apiVersion,
    kind: 'Role',
    metadata,
    rules: rulesIn(inNamespace),
  });
  await post(`${inside}/rolebindings`, bindingOf('Role', name, account));
  await post(`${rbac}/clusterroles`, {
    apiVersion,
    kind: 'ClusterRole',
    metadata,
    rules: rulesIn(inCluster),
  });
  await post(`${rbac}/clusterrolebindings`, bindingOf('ClusterRole', name, account));
}

function bindingOf(kind: 'Role' | 'ClusterRole', name: string, account: string): JsonObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: `${kind}Binding`,
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: ACCOUNTS_NAMESPACE }],
  };
}

function tokenIn(answer: unknown): string {
  const status = isJsonObject(answer) ? answer['status'] : undefined;
  const token = isJsonObject(status) ? status['token'] : undefined;
  if (typeof token !== 'string') throw new Error('A TokenRequest was answered without a token');
  return token;
}
