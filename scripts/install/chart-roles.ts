/** What the operator may do, as templates: our Roles by what each capability states, or the peer's. */
import { budgetPermissions } from '#disruption-budget/permissions.ts';
import { allPermissions } from '#operator/permissions/all-permissions.ts';
import {
  operatorPermissions,
  type RoleRule,
  roleRules,
  usualNames,
  webhookPermissions,
} from '#operator/permissions/permissions.ts';
import {
  account,
  all,
  clusterMetadata,
  clusterPrefix,
  conditions,
  fullname,
  leaseName,
  metadata,
  namespace,
  secretName,
  zoneTrackerName,
} from './chart-words.ts';
import { peerCertificateRules, peerClusterRules, peerRules } from './peer-role.ts';
import { template, when } from './template.ts';

const { webhooks, disruptionBudgets, phasedRollouts, statefulsetRollouts } = conditions;
const { peerRole, ownRole, zoneTracker } = conditions;
const group = 'rbac.authorization.k8s.io';
const apiVersion = `${group}/v1`;

/** The Roles and ClusterRoles, each with its binding, by the name of the template. */
export function chartRoles(): Readonly<Record<string, string>> {
  const permissions = webhookPermissions(namespace);
  const ofWebhooks = roleRules(permissions.webhooks);
  const ofCertificate = roleRules(permissions.certificate);
  const clusterName = `${clusterPrefix}webhook-cert-update-role`;
  const certificateName = `${fullname}-webhook-cert-secret-role`;
  const webhookName = `${fullname}-webhook-role`;
  const budgetName = `${fullname}-budget-role`;
  const hasBudgetRole = all(disruptionBudgets, ownRole);
  const phasedName = `${fullname}-phased-rollout-role`;
  const hasPhasedRole = all(phasedRollouts, ownRole);
  const beside = allPermissions(namespace);
  const phasedClusterName = `${clusterPrefix}phased-rollout-webhook-cert-role`;
  const carrierName = `${fullname}-statefulset-rollout-role`;
  const hasCarrierRole = all(statefulsetRollouts, ownRole);
  const hasPhasedWebhooks = all(webhooks, phasedRollouts, ownRole);
  return {
    'budget-role.yaml': template([
      when(hasBudgetRole, role('Role', budgetName, roleRules(budgetPermissions))),
      when(hasBudgetRole, binding('Role', budgetName, budgetName)),
    ]),
    'phased-rollout-role.yaml': template([
      when(hasPhasedRole, role('Role', phasedName, roleRules(beside.own))),
      when(hasPhasedRole, binding('Role', phasedName, phasedName)),
      when(hasPhasedWebhooks, role('ClusterRole', phasedClusterName, roleRules(beside.cluster))),
      when(hasPhasedWebhooks, binding('ClusterRole', phasedClusterName, phasedClusterName)),
    ]),
    'statefulset-rollout-role.yaml': template([
      when(hasCarrierRole, role('Role', carrierName, roleRules(beside.carriers))),
      when(hasCarrierRole, binding('Role', carrierName, carrierName)),
    ]),
    'role.yaml': template([
      when(peerRole, role('Role', fullname, peerRules)),
      when(ownRole, role('Role', fullname, roleRules(operatorPermissions))),
      binding('Role', fullname, fullname),
    ]),
    'webhook-role.yaml': template([
      when(all(webhooks, ownRole), role('Role', webhookName, ofWebhooks)),
      when(all(webhooks, ownRole), binding('Role', webhookName, webhookName)),
    ]),
    'webhook-certificate-role.yaml': template([
      when(
        all(webhooks, peerRole),
        role('Role', certificateName, peerCertificateRules(secretName)),
      ),
      when(all(webhooks, ownRole), role('Role', certificateName, ofCertificate)),
      when(webhooks, binding('Role', certificateName, certificateName)),
    ]),
    'webhook-certificate-cluster-role.yaml': template([
      when(all(webhooks, peerRole), role('ClusterRole', clusterName, peerClusterRules)),
      when(
        all(webhooks, ownRole),
        role('ClusterRole', clusterName, roleRules(permissions.cluster)),
      ),
      when(
        webhooks,
        binding('ClusterRole', `${clusterPrefix}webhook-cert-secret-rolebinding`, clusterName),
      ),
    ]),
  };
}

type Kind = 'Role' | 'ClusterRole';

function metadataOf(kind: Kind, name: string): object {
  return kind === 'Role' ? metadata(name) : clusterMetadata(name);
}

function role(kind: Kind, name: string, rules: readonly RoleRule[]): object {
  return { apiVersion, kind, metadata: metadataOf(kind, name), rules: rules.map(ruleOf) };
}

/** `rule` about the objects that the flags of the release name. */
function ruleOf(rule: RoleRule): unknown {
  const { resourceNames, ...rest } = rule;
  if (resourceNames === undefined) return rule;
  const renamed = { ...rest, resourceNames: resourceNames.map((name) => renamedIn(rule, name)) };
  return resourceNames.includes(usualNames.zoneTracker) ? when(zoneTracker, renamed) : renamed;
}

function renamedIn({ resources }: RoleRule, name: string): string {
  if (resources.includes('leases') && name === usualNames.lease) return leaseName;
  if (resources.includes('services') && name === usualNames.service) return fullname;
  if (name === usualNames.secret) return secretName;
  return name === usualNames.zoneTracker ? zoneTrackerName : name;
}

function binding(kind: Kind, name: string, of: string): object {
  return {
    apiVersion,
    kind: `${kind}Binding`,
    metadata: metadataOf(kind, name),
    roleRef: { apiGroup: group, kind, name: of },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
  };
}
