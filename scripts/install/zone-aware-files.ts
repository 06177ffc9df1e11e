/** deploy/zone-aware-controllers: what a cluster needs to run this program in place of the zone-aware-controllers-for-k8s. */
import {
  zoneAwarePrefix,
  zoneWebhookConfiguration,
} from '#admission/webhook-configuration/zone-webhook-configuration.ts';
import { zoneAwareNames } from '#config/zone-aware-config.ts';
import type { Permission } from '#kubernetes/authorization/permission.ts';
import { zoneFrontPermissions } from '#operator/permissions/zone-permissions.ts';
import { zoneAwareUpdateDefinition } from '#zone-aware-update/definition.ts';
import { zoneDisruptionBudgetDefinition } from '#zone-disruption-budget/definition.ts';
import { containerSecurity, heapPercentage, memoryLimit } from './deployment.ts';
import {
  httpsService,
  type ManagerPlace,
  managerSecurity,
  placedAs,
  roleObjects,
} from './manager-objects.ts';

/** Where the manifests of the peer put it (OPS-9). */
const namespace = 'zone-aware-controllers-system';
const podLabels = { 'control-plane': 'controller-manager' };
const place: ManagerPlace = {
  namespace,
  prefix: zoneAwarePrefix,
  labels: { 'app.kubernetes.io/name': 'zone-aware-controllers', ...podLabels },
  podLabels,
  account: `${zoneAwarePrefix}service-account`,
};
const manager = `${zoneAwarePrefix}controller-manager`;
const [metricsPort, webhookPort, probePort] = [8_080, 9_443, 8_081];

/** Returns the objects of each file. */
export function zoneAwareObjects(image: string): Readonly<Record<string, readonly object[]>> {
  const { own, cluster } = zoneFrontPermissions;
  return {
    'definitions.yaml': [zoneAwareUpdateDefinition, zoneDisruptionBudgetDefinition],
    'operator.yaml': [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: placedAs(place.account, place) },
      ...roleObjects('Role', { what: 'leader-election', permissions: own }, place),
      ...roleObjects('ClusterRole', { what: 'manager', permissions: cluster }, place),
      // Made empty, as no rule for one name can permit to create it.
      {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'Opaque',
        metadata: placedAs(zoneAwareNames.secret, place),
      },
      httpsService('webhook-service', { port: 443, targetPort: webhookPort }, place),
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: placedAs(manager, place),
        spec: { maxUnavailable: 1, selector: { matchLabels: podLabels } },
      },
      deployment(image),
    ],
    'webhook-configuration.yaml': [zoneWebhookConfiguration({ namespace, injector: 'self' })],
    'webhook-configuration-cert-manager.yaml': [
      zoneWebhookConfiguration({ namespace, injector: 'cert-manager' }),
    ],
  };
}

/** What the manifests permit, for the comments in them. */
export const zoneAwareReasons: readonly Permission[] = [
  ...zoneFrontPermissions.own,
  ...zoneFrontPermissions.cluster,
];

/** As the peer's, but for the certificate, which is our own, the memory that Node takes, and a second replica on another node. */
function deployment(image: string): object {
  const probe = (path: string): object => ({ httpGet: { path, port: probePort } });
  const container = {
    name: 'manager',
    image,
    command: ['/zone-aware-controllers'],
    // From debug on, as it is by default, each review that is posted has two lines written.
    args: ['--leader-elect', '--server-tls.self-signed-cert.enabled', '--zap-log-level=info'],
    env: [{ name: 'NODE_OPTIONS', value: `--max-old-space-size-percentage=${heapPercentage}` }],
    ports: [
      { name: 'webhook-server', containerPort: webhookPort, protocol: 'TCP' },
      { name: 'http-metrics', containerPort: metricsPort, protocol: 'TCP' },
    ],
    livenessProbe: { ...probe('/healthz'), initialDelaySeconds: 15, periodSeconds: 20 },
    readinessProbe: { ...probe('/readyz'), initialDelaySeconds: 5, periodSeconds: 10 },
    resources: {
      requests: { cpu: '10m', memory: '100Mi' },
      limits: { memory: `${memoryLimit}Mi` },
    },
    securityContext: containerSecurity,
  };
  const apart = {
    weight: 100,
    podAffinityTerm: {
      labelSelector: { matchLabels: podLabels },
      topologyKey: 'kubernetes.io/hostname',
    },
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: placedAs(manager, place),
    spec: {
      // One of them deletes pods; each answers reviews, without which no pod of the cluster can be evicted.
      replicas: 2,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
      selector: { matchLabels: podLabels },
      template: {
        metadata: { labels: podLabels },
        spec: {
          serviceAccountName: place.account,
          terminationGracePeriodSeconds: 30,
          affinity: {
            podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [apart] },
          },
          securityContext: managerSecurity,
          containers: [container],
        },
      },
    },
  };
}
