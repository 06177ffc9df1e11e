/** deploy/phased-rollout: what a cluster needs to run this program in place of the sts-phased-rollout-operator. */
import {
  phasedRolloutPrefix,
  phasedWebhookConfigurations,
} from '#admission/phased-webhook-configurations.ts';
import { secretName } from '#config/phased-config.ts';
import type { Permission } from '#kubernetes/permission.ts';
import { roleRules } from '#operator-permissions.ts';
import { phasedFrontPermissions } from '#operator-phased-permissions.ts';
import { phasedRolloutDefinition } from '#phased-rollout/definition.ts';
import { containerSecurity, heapPercentage, memoryLimit } from './deployment.ts';

/** Where the manifests of the peer put it (O4). */
const namespace = 'sts-phased-rollout-operator-system';
const labels = {
  'app.kubernetes.io/name': 'sts-phased-rollout-operator',
  'control-plane': 'controller-manager',
};
const [metricsPort, webhookPort, probePort] = [8_443, 9_443, 8_081];
const user = 65_532;
const rbac = 'rbac.authorization.k8s.io';

/** Returns the objects of each file. */
export function phasedRolloutObjects(image: string): Readonly<Record<string, readonly object[]>> {
  return {
    'definition.yaml': [phasedRolloutDefinition],
    'operator.yaml': [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: placed('controller-manager') },
      ...roleObjects('Role', 'leader-election', phasedFrontPermissions.own),
      ...roleObjects('ClusterRole', 'manager', phasedFrontPermissions.cluster),
      // Made empty, as no rule for one name can permit to create it.
      { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata: placedAs(secretName) },
      service('controller-manager-metrics-service', { port: metricsPort, targetPort: metricsPort }),
      service('webhook-service', { port: 443, targetPort: webhookPort }),
      deployment(image),
    ],
    'webhook-configurations.yaml': phasedWebhookConfigurations({ namespace, injector: 'self' }),
    'webhook-configurations-cert-manager.yaml': phasedWebhookConfigurations({
      namespace,
      injector: 'cert-manager',
    }),
  };
}

/** What the manifests permit, for the comments in them. */
export const phasedRolloutReasons: readonly Permission[] = [
  ...phasedFrontPermissions.own,
  ...phasedFrontPermissions.cluster,
];

function placed(name: string): object {
  return placedAs(`${phasedRolloutPrefix}${name}`);
}

function placedAs(name: string): object {
  return { name, namespace, labels };
}

function roleObjects(
  kind: 'Role' | 'ClusterRole',
  what: string,
  permissions: readonly Permission[],
): readonly object[] {
  const isOfCluster = kind === 'ClusterRole';
  const metadataOf = (suffix: string): object => {
    const name = `${phasedRolloutPrefix}${what}-${suffix}`;
    return isOfCluster ? { name, labels } : placedAs(name);
  };
  const apiVersion = `${rbac}/v1`;
  const name = `${phasedRolloutPrefix}controller-manager`;
  return [
    { apiVersion, kind, metadata: metadataOf('role'), rules: roleRules(permissions) },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata: metadataOf('rolebinding'),
      roleRef: { apiGroup: rbac, kind, name: `${phasedRolloutPrefix}${what}-role` },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  ];
}

function service(
  name: string,
  { port, targetPort }: { readonly port: number; readonly targetPort: number },
): object {
  const ports = [{ name: 'https', port, protocol: 'TCP', targetPort }];
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: placed(name),
    spec: { ports, selector: labels },
  };
}

/** As the peer's, but for the command, the certificate, which is our own, and the memory that Node takes. */
function deployment(image: string): object {
  const probe = (path: string): object => ({ httpGet: { path, port: probePort } });
  const container = {
    name: 'manager',
    image,
    command: ['/manager'],
    args: [
      '--metrics-bind-address=:8443',
      '--leader-elect',
      '--health-probe-bind-address=:8081',
      '--server-tls.self-signed-cert.enabled',
    ],
    env: [{ name: 'NODE_OPTIONS', value: `--max-old-space-size-percentage=${heapPercentage}` }],
    ports: [{ name: 'webhook-server', containerPort: webhookPort, protocol: 'TCP' }],
    livenessProbe: { ...probe('/healthz'), initialDelaySeconds: 15, periodSeconds: 20 },
    readinessProbe: { ...probe('/readyz'), initialDelaySeconds: 5, periodSeconds: 10 },
    resources: {
      requests: { cpu: '10m', memory: '100Mi' },
      limits: { memory: `${memoryLimit}Mi` },
    },
    securityContext: containerSecurity,
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: placed('controller-manager'),
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: `${phasedRolloutPrefix}controller-manager`,
          terminationGracePeriodSeconds: 30,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: user,
            runAsGroup: user,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          containers: [container],
        },
      },
    },
  };
}
