/**
 * The kustomize base and its components, from what deploy/ is generated from. Where a name has the namespace in it, they
 * have {@link PLACEHOLDER}, which no API server accepts; namespace-names/ replaces it by what the user's kustomization says.
 */
import { parse } from 'yaml';
import { CLAIMS_NAME } from '#admission/claim/claim.ts';
import {
  webhookConfigurations,
  webhookService,
} from '#admission/webhook-configuration/webhook-configurations.ts';
import type { Permission } from '#kubernetes/authorization/permission.ts';
import { usualNames, webhookPermissions } from '#operator/permissions/permissions.ts';
import { phasedRolloutDefinition } from '#phased-rollout/definition.ts';
import { statefulsetRolloutDefinition } from '#statefulset-rollout/definition.ts';
import { allObjects, everything } from './all-files.ts';
import { amendAll } from './amend.ts';
import { builtImage, name, plain, podLabels, withWebhooks } from './deployment.ts';
import { documents, header, manifest, reasons } from './manifest-text.ts';
import { namespaceNames, PLACEHOLDER } from './namespace-names.ts';
import {
  budgetRole,
  clusterRoleWithBinding,
  deployFiles,
  networkPolicy,
  roleWithBinding,
} from './operator-files.ts';
import { peerCertificateRules, peerClusterRules, peerRules } from './peer-role.ts';
import { metricsService, serviceMonitor } from './service-monitor.ts';

type Files = Readonly<Record<string, string>>;

const note = header.replace('generate-deploy', 'generate-install');
const { webhooks, certificate, cluster } = webhookPermissions(PLACEHOLDER);
const isOfTracker = ({ resourceNames = [] }: Permission): boolean =>
  resourceNames.includes(usualNames.zoneTracker);
const clusterRole = `${name}-${PLACEHOLDER}-webhook-cert-update-role`;
const roles = { webhooks: `${name}-webhook-role`, certificate: `${name}-webhook-cert-secret-role` };

/** Files of deploy/ that make the base. */
const baseFiles = [
  'service-account.yaml',
  'role.yaml',
  'role-binding.yaml',
  'deployment.yaml',
  'pod-disruption-budget.yaml',
] as const;

/** The generated files by their paths. @param version of the program, for the image's tag */
export function kustomizeFiles(version: string): Files {
  const flat = deployFiles(builtImage(version));
  return {
    'base/kustomization.yaml': kustomization('Kustomization', { resources: baseFiles }),
    ...inFolder('base', Object.fromEntries(baseFiles.map((file) => [file, flat[file] ?? '']))),
    ...component('replica-templates', {
      'replica-template-definition.yaml': flat['replica-template-definition.yaml'] ?? '',
    }),
    ...component('zone-aware-pod-disruption-budgets', {
      'budget-role.yaml': flat['budget-role.yaml'] ?? '',
      'zone-aware-pod-disruption-budget-definition.yaml':
        flat['zone-aware-pod-disruption-budget-definition.yaml'] ?? '',
    }),
    ...component('webhooks', webhookFiles(), [patchOf('Deployment', name, servingWebhooks())]),
    ...component('zone-tracker', trackerFiles(), [patchOf('Deployment', name, tracking())]),
    ...component('phased-rollouts', phasedFiles(), [
      patchOf('Deployment', name, [
        { op: 'add', path: `${container}/args/0`, value: everything.args[0] },
      ]),
    ]),
    ...component('phased-rollout-webhooks', phasedWebhookFiles()),
    ...component('statefulset-rollouts', carrierFiles()),
    ...component('one-replica', {}, [
      patchOf('Deployment', name, [{ op: 'replace', path: '/spec/replicas', value: 1 }]),
    ]),
    ...component('peer-role', {}, peerPatches()),
    ...component('service-monitor', {
      'service-monitor.yaml': `${note}${documents([metricsService(podLabels), serviceMonitor({ ...podLabels, metrics: 'true' })])}`,
    }),
    ...component('network-policy', {
      'network-policy.yaml': `${note}${policyNote}${documents([policy()])}`,
    }),
    'namespace-names/kustomization.yaml': kustomization('Kustomization', {
      resources: ['replacements.yaml'],
    }),
    'namespace-names/replacements.yaml': `${note}${documents([namespaceNames(namedObjects())])}`,
  };
}

function webhookFiles(): Files {
  const ours = webhooks.filter((each) => !isOfTracker(each));
  return {
    'webhook-certificate-cluster-role.yaml': `${note}${reasons(cluster)}${quoted(clusterRoleWithBinding(PLACEHOLDER, cluster))}`,
    'webhook-certificate-role.yaml': `${note}${reasons(certificate)}${roleWithBinding(roles.certificate, certificate)}`,
    'webhook-configurations.yaml': `${note}${quoted(documents(configurations()))}`,
    'webhook-objects.yaml': `${note}${documents([
      { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata: { name: usualNames.secret } },
      configMap(CLAIMS_NAME),
    ])}`,
    'webhook-role.yaml': `${note}${reasons(ours)}${roleWithBinding(roles.webhooks, ours)}`,
    'webhook-service.yaml': manifestOf(webhookService(podLabels)),
  };
}

const inAll = allObjects(builtImage(''), PLACEHOLDER);

function ofAll(file: string): string {
  const { objects = [], permissions = [] } = inAll[file] ?? {};
  const why = permissions.length === 0 ? '' : reasons(permissions);
  return `${note}${why}${quoted(documents(objects))}`;
}

function phasedFiles(): Files {
  return {
    'phased-rollout-definition.yaml': manifestOf(phasedRolloutDefinition),
    'phased-rollout-role.yaml': ofAll('role.yaml'),
  };
}

/** After the component for PhasedRollouts, which starts the program that runs everything. */
function carrierFiles(): Files {
  return {
    'statefulset-rollout-definition.yaml': manifestOf(statefulsetRolloutDefinition),
    'statefulset-rollout-role.yaml': ofAll('statefulset-rollout-role.yaml'),
  };
}

/** After the component for webhooks, whose Service and certificate they have. */
function phasedWebhookFiles(): Files {
  return {
    'phased-rollout-webhook-certificate-cluster-role.yaml': ofAll(
      'webhook-certificate-cluster-role.yaml',
    ),
    'phased-rollout-webhook-configurations.yaml': ofAll('webhook-configurations.yaml'),
  };
}

/** What replaces the placeholder keeps its quotes: without them the namespace 123 would be a number. */
function quoted(text: string): string {
  return text.replaceAll(`: ${PLACEHOLDER}\n`, `: "${PLACEHOLDER}"\n`);
}

function trackerFiles(): Files {
  const permissions = webhooks.filter(isOfTracker);
  return {
    'zone-tracker.yaml': `${note}${documents([configMap(usualNames.zoneTracker)])}`,
    'zone-tracker-role.yaml': `${note}${reasons(permissions)}${roleWithBinding(`${name}-zone-tracker-role`, permissions)}`,
  };
}

function configurations(): readonly object[] {
  return webhookConfigurations({ namespace: PLACEHOLDER });
}

/** All that have the namespace in what they say. */
function namedObjects(): readonly object[] {
  return [
    ...configurations(),
    ...clusterRoleWithBinding(PLACEHOLDER, cluster)
      .split('---\n')
      .map((text) => parse(text) as object),
    ...(inAll['webhook-certificate-cluster-role.yaml']?.objects ?? []),
    ...(inAll['webhook-configurations.yaml']?.objects ?? []),
  ];
}

function configMap(of: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: of } };
}

const container = '/spec/template/spec/containers/0';

function servingWebhooks(): readonly object[] {
  const args = withWebhooks.args.slice(plain.args.length).filter((arg) => !isTrackerFlag(arg));
  return [
    ...args.map((value) => ({ op: 'add', path: `${container}/args/-`, value })),
    ...withWebhooks.ports
      .slice(plain.ports.length)
      .map((value) => ({ op: 'add', path: `${container}/ports/-`, value })),
  ];
}

function tracking(): readonly object[] {
  const args = withWebhooks.args.filter(isTrackerFlag);
  return args.map((value) => ({ op: 'add', path: `${container}/args/-`, value }));
}

function isTrackerFlag(arg: string): boolean {
  return arg.startsWith('-use-zone-tracker');
}

/** Those of objects that are not there change nothing. The peer's Role has what webhooks take beyond its others. */
function peerPatches(): readonly object[] {
  const rules = (value: unknown): readonly object[] => [{ op: 'replace', path: '/rules', value }];
  return [
    patchOf('Deployment', name, [{ op: 'replace', path: '/spec/replicas', value: 1 }]),
    patchOf('Role', name, rules(peerRules)),
    patchOf('Role', roles.webhooks, rules([])),
    patchOf('Role', budgetRole, rules([])),
    patchOf('Role', `${name}-zone-tracker-role`, rules([])),
    patchOf('Role', roles.certificate, rules(peerCertificateRules(usualNames.secret))),
    // The others permit parts of it, and stay: the names in them are found by where they stand.
    patchOf('ClusterRole', clusterRole, [
      { op: 'replace', path: '/rules/0', value: peerClusterRules[0] },
    ]),
  ];
}

const policyNote = `#
# Put in the addresses of your cluster with a patch: API_SERVERS and NODES are none, so that the API server refuses them.
`;

/** With words that say what belongs there, in place of addresses: an example that is applied as it is would lock all out. */
function policy(): object {
  const cidr = (rule: number): readonly (string | number)[] => [
    'spec',
    'ingress',
    rule,
    'from',
    0,
    'ipBlock',
    'cidr',
  ];
  return amendAll(networkPolicy, [
    [cidr(0), 'API_SERVERS'],
    [cidr(1), 'NODES'],
  ]) as object;
}

function patchOf(kind: string, of: string, operations: readonly object[]): object {
  return { target: { kind, name: of }, patch: documents([operations]) };
}

function component(of: string, files: Files, patches: readonly object[] = []): Files {
  const resources = Object.keys(files);
  const content = {
    ...(resources.length > 0 && { resources }),
    ...(patches.length > 0 && { patches }),
  };
  return inFolder(`components/${of}`, {
    'kustomization.yaml': kustomization('Component', content),
    ...files,
  });
}

function kustomization(kind: 'Kustomization' | 'Component', content: object): string {
  const version = kind === 'Component' ? 'v1alpha1' : 'v1beta1';
  return manifestOf({ apiVersion: `kustomize.config.k8s.io/${version}`, kind, ...content });
}

function manifestOf(object: object): string {
  return manifest(object).replace(header, note);
}

function inFolder(folder: string, files: Files): Files {
  return Object.fromEntries(
    Object.entries(files).map(([file, text]) => [`${folder}/${file}`, text]),
  );
}
