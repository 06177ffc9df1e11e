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
import {
  accountObjects,
  emptySecret,
  httpsService,
  type ManagerPlace,
  managerDeployment,
  podBudget,
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
const [metricsPort, webhookPort] = [8_080, 9_443];

/** Returns the objects of each file. */
export function zoneAwareObjects(image: string): Readonly<Record<string, readonly object[]>> {
  const { own, cluster } = zoneFrontPermissions;
  return {
    'definitions.yaml': [zoneAwareUpdateDefinition, zoneDisruptionBudgetDefinition],
    'operator.yaml': [
      ...accountObjects({ own, watched: cluster }, place),
      emptySecret(zoneAwareNames.secret, place),
      httpsService('webhook-service', { port: 443, targetPort: webhookPort }, place),
      podBudget(manager, place),
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
  return managerDeployment(
    {
      name: manager,
      container: {
        name: 'manager',
        image,
        command: ['/zone-aware-controllers'],
        // From debug on, as it is by default, each review that is posted has two lines written.
        args: ['--leader-elect', '--server-tls.self-signed-cert.enabled', '--zap-log-level=info'],
      },
      ports: { 'webhook-server': webhookPort, 'http-metrics': metricsPort },
      isSpread: true,
      // One of them deletes pods; each answers reviews, without which no pod of the cluster can be evicted.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    },
    place,
  );
}
