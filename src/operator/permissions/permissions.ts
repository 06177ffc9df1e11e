import { admissionClusterPermissions, admissionPermissions } from '#admission/permissions.ts';
import { webhookConfigurationNames } from '#admission/webhook-configuration/webhook-configurations.ts';
import { certificatePermissions } from '#certificate/permissions.ts';
import type { Config } from '#config/config.ts';
import { budgetPermissions } from '#disruption-budget/permissions.ts';
import { byScope, type Permission } from '#kubernetes/authorization/permission.ts';
import { leasePermissions } from '#kubernetes/leader-election/lease-permissions.ts';
import {
  replicaCoordinationPermissions,
  zoneTrackerPermissions,
} from '#replica-coordination/permissions.ts';
import { rolloutGroupPermissions } from '#rollout-group/permissions.ts';

/** Returns the name of the Service by which the API server calls the webhooks: their certificate is for it. */
export function serviceOf({ selfSigned }: Config['tls']): string {
  return selfSigned.dnsName.split('.', 1)[0] ?? '';
}

/** What the objects are called that the operator writes, unless flags say otherwise. */
export const usualNames = Object.freeze({
  lease: 'rollout-operator',
  service: 'rollout-operator',
  secret: 'rollout-operator-self-signed-certificate',
  zoneTracker: 'rollout-operator-zone-tracker',
});

/** All that the operator's Role must permit: what each capability states next to its code. */
export const operatorPermissions: readonly Permission[] = [
  ...rolloutGroupPermissions,
  ...replicaCoordinationPermissions,
  ...leasePermissions(usualNames.lease),
];

/** What serving webhooks takes beyond {@link operatorPermissions}, where each part is granted. */
export interface WebhookPermissions {
  readonly webhooks: readonly Permission[];
  readonly certificate: readonly Permission[];
  /** In a ClusterRole. */
  readonly cluster: readonly Permission[];
}

/** Returns all that the shipped set-up with webhooks takes for an operator in `namespace`. */
export function webhookPermissions(namespace: string): WebhookPermissions {
  const { service, secret, zoneTracker } = usualNames;
  const configurations = webhookConfigurationNames(namespace);
  const certificate = byScope(certificatePermissions({ secret, configurations }));
  return {
    webhooks: [
      ...admissionPermissions({ service, zoneTracker }),
      ...zoneTrackerPermissions(zoneTracker),
    ],
    certificate: certificate.own,
    cluster: [...certificate.cluster, ...admissionClusterPermissions],
  };
}

/** What a namespace has that takes more than flags say. */
export interface Governed {
  /** Whether there are budgets to obey: without them no Role has to permit that ConfigMaps are made, whatever their names. */
  readonly hasBudgets: boolean;
}

/** Returns all that an operator with the flags of `config` takes; what is for the cluster says so itself. */
export function permissionsOf(config: Config, { hasBudgets }: Governed): readonly Permission[] {
  const { leaderElection, zoneTracker } = config;
  return [
    ...rolloutGroupPermissions,
    ...(hasBudgets ? budgetPermissions : []),
    ...replicaCoordinationPermissions,
    ...(leaderElection.isEnabled ? leasePermissions(leaderElection.resourceName) : []),
    ...(zoneTracker.isEnabled ? zoneTrackerPermissions(zoneTracker.configMapName) : []),
    ...(config.tls.isEnabled ? webhookPermissionsOf(config) : []),
  ];
}

function webhookPermissionsOf({ kubernetes, tls, zoneTracker }: Config): readonly Permission[] {
  const { isEnabled, configMapName } = zoneTracker;
  const configurations = webhookConfigurationNames(kubernetes.namespace);
  const secret = tls.selfSigned.secretName;
  const service = serviceOf(tls);
  const ofCertificate = certificatePermissions({ secret, configurations });
  return [
    ...admissionPermissions({ service, ...(isEnabled && { zoneTracker: configMapName }) }),
    ...ofCertificate.filter(({ isClusterScoped = false }) =>
      isClusterScoped ? tls.updatesCaBundle : tls.selfSigned.isEnabled,
    ),
    ...admissionClusterPermissions,
  ];
}

/** One rule of a Role, as RBAC has it. */
export interface RoleRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** Returns `permissions` as the rules of a Role: one a resource, verbs sorted, in order of first mention. */
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
