/** deploy/phased-rollout: what a cluster needs to run this program in place of the sts-phased-rollout-operator. */
import {
  phasedRolloutPrefix,
  phasedWebhookConfigurations,
} from '#admission/webhook-configuration/phased-webhook-configurations.ts';
import { phasedNames } from '#config/phased-config.ts';
import type { Permission } from '#kubernetes/authorization/permission.ts';
import { phasedFrontPermissions } from '#operator/permissions/phased-permissions.ts';
import { phasedRolloutDefinition } from '#phased-rollout/definition.ts';
import {
  accountObjects,
  emptySecret,
  httpsService,
  type ManagerPlace,
  managerDeployment,
} from './manager-objects.ts';

/** Where the manifests of the peer put it. */
const namespace = 'sts-phased-rollout-operator-system';
const labels = {
  'app.kubernetes.io/name': 'sts-phased-rollout-operator',
  'control-plane': 'controller-manager',
};
const [metricsPort, webhookPort] = [8_443, 9_443];
const place: ManagerPlace = {
  namespace,
  prefix: phasedRolloutPrefix,
  labels,
  podLabels: labels,
  account: `${phasedRolloutPrefix}controller-manager`,
};

/** Returns the objects of each file. */
export function phasedRolloutObjects(image: string): Readonly<Record<string, readonly object[]>> {
  const { own, cluster } = phasedFrontPermissions;
  return {
    'definition.yaml': [phasedRolloutDefinition],
    'operator.yaml': [
      ...accountObjects({ own, watched: cluster }, place),
      emptySecret(phasedNames.secret, place),
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
  return managerDeployment(
    {
      name: place.account,
      container: {
        name: 'manager',
        image,
        command: ['/manager'],
        args: [
          '--metrics-bind-address=:8443',
          '--leader-elect',
          '--health-probe-bind-address=:8081',
          '--server-tls.self-signed-cert.enabled',
        ],
      },
      ports: { 'webhook-server': webhookPort },
      isSpread: false,
    },
    place,
  );
}
