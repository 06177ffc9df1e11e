import { zoneWebhookName } from '#admission/webhook-configuration/zone-webhook-configuration.ts';
import { certificatePermissions } from '#certificate/permissions.ts';
import { zoneAwareNames } from '#config/zone-aware-config.ts';
import type { Permission } from '#kubernetes/authorization/permission.ts';
import { leasePermissions } from '#kubernetes/leader-election/lease-permissions.ts';
import { zoneAwareUpdatePermissions } from '#zone-aware-update/permissions.ts';
import { zoneBudgetPermissions } from '#zone-disruption-budget/permissions.ts';

/** What running under the name of the zone-aware-controllers-for-k8s takes. */
export interface ZoneFrontPermissions {
  /** In the namespace of the operator. */
  readonly own: readonly Permission[];
  /** In the whole cluster. */
  readonly cluster: readonly Permission[];
}

/** Both kinds of resources, and the webhook with a certificate of our own. */
export const zoneFrontPermissions: ZoneFrontPermissions = statedPermissions();

function statedPermissions(): ZoneFrontPermissions {
  const certificate = certificatePermissions({
    secret: zoneAwareNames.secret,
    configurations: { mutating: [zoneWebhookName], validating: [] },
  });
  const isForCluster = ({ isClusterScoped = false }: Permission): boolean => isClusterScoped;
  // A rule without names would be for all configurations: there is none of that kind.
  const named = certificate.filter(({ resourceNames }) => resourceNames?.length !== 0);
  return {
    own: [
      ...leasePermissions(zoneAwareNames.lease),
      ...zoneBudgetPermissions.own,
      ...named.filter((each) => !isForCluster(each)),
    ],
    cluster: [
      ...zoneBudgetPermissions.everywhere,
      ...zoneAwareUpdatePermissions,
      ...named.filter(isForCluster),
    ],
  };
}
