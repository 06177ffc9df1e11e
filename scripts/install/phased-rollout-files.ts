/** deploy/phased-rollout: what a cluster needs to run this program in place of the sts-phased-rollout-operator. */
import {
  phasedRolloutPrefix,
  phasedWebhookConfigurations,
} from '#admission/webhook-configuration/phased-webhook-configurations.ts';
import { phasedNames } from '#config/phased-config.ts';
import type { Permission } from '#kubernetes/authorization/permission.ts';
import { phasedFrontPermissions } from '#operator/permissions/phased-permissions.ts';
import { phasedRolloutDefinition } from '#phased-rollout/definition.ts';
import { containerSecurity, heapPercentage, memoryLimit } from './deployment.ts';
import {
  httpsService,
  type ManagerPlace,
  managerSecurity,
  placedAs,
  roleObjects,
} from './manager-objects.ts';

/** Where the manifests of the peer put it. */
const namespace = 'sts-phased-rollout-operator-system';
const labels = {
  'app.kubernetes.io/name': 'sts-phased-rollout-operator',
  'control-plane': 'controller-manager',
};
const [metricsPort, webhookPort, probePort] = [8_443, 9_443, 8_081];
const place: ManagerPlace = {
  namespace,
  prefix: phasedRolloutPrefix,
  labels,
  podLabels: labels,
  account: `${phasedRolloutPrefix}controller-manager`,
};

/** Returns the objects of each file. */
export function phasedRolloutObjects(image: string): Readonly<Record<string, readonly object[]>> {
  return {
    'definition.yaml': [phasedRolloutDefinition],
    'operator.yaml': [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: placedAs(place.account, place) },
      ...roleObjects(
        'Role',
        { what: 'leader-election', permissions: phasedFrontPermissions.own },
        place,
      ),
      ...roleObjects(
        'ClusterRole',
        { what: 'manager', permissions: phasedFrontPermissions.cluster },
        place,
      ),
      // Made empty, as no rule for one name can permit to create it.
      {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'Opaque',
        metadata: placedAs(phasedNames.secret, place),
      },
      httpsService(
        'controller-manager-metrics-service',
        { port: metricsPort, targetPort: metricsPort },
        place,
      ),
      httpsService('webhook-service', { port: 443, targetPort: webhookPort }, place),
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
    metadata: placedAs(place.account, place),
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: place.account,
          terminationGracePeriodSeconds: 30,
          securityContext: managerSecurity,
          containers: [container],
        },
      },
    },
  };
}
