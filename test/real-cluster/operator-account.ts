/** The operator's ServiceAccount on a real cluster, with exactly one of two Roles, and its token. */
import { CLAIMS_NAME } from '#admission/claim.ts';
import type { JsonObject } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { type RoleRule, roleRules, usualNames, webhookPermissions } from '#operator-permissions.ts';

/** The namespace of the operators' accounts; the audit policy knows it. */
export const ACCOUNTS_NAMESPACE = 'operators';

/** Whose Role the operator runs under (D-1). */
export type RoleName = 'ours' | 'peer';

/** The Role of the peer's shipped manifests (rollout-groups §6.4), as far as this version's capabilities reach. */
const peerRules: readonly RoleRule[] = [
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

const rulesOf: Readonly<Record<RoleName, readonly RoleRule[]>> = {
  ours: roleRules(),
  peer: peerRules,
};

interface WebhookRules {
  readonly inNamespace: readonly RoleRule[];
  readonly inCluster: readonly RoleRule[];
}

/** What the set-up with webhooks adds, in the namespace and in the cluster; the peer's as in its manifests (R4, R5). */
const webhookRulesOf: Readonly<Record<RoleName, (namespace: string) => WebhookRules>> = {
  ours: (namespace) => {
    const { webhooks, certificate, cluster } = webhookPermissions(namespace);
    return {
      inNamespace: roleRules([...webhooks, ...certificate]),
      inCluster: roleRules(cluster),
    };
  },
  peer: () => ({
    inNamespace: [
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
      {
        apiGroups: [''],
        resources: ['secrets'],
        resourceNames: ['rollout-operator-self-signed-certificate'],
        verbs: ['update', 'get'],
      },
    ],
    inCluster: [
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'],
        verbs: ['list', 'patch', 'watch'],
      },
    ],
  }),
};

/** Makes empty what our Roles permit to write and not to create, as the manifests do. */
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
  const answer = await post(`${accounts}/${name}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 3600 },
  });
  return { user: `system:serviceaccount:${ACCOUNTS_NAMESPACE}:${name}`, token: tokenIn(answer) };
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
