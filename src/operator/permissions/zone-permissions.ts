import { zoneWebhookName } from '#admission/webhook-configuration/zone-webhook-configuration.ts';
import { certificatePermissions } from '#certificate/permissions.ts';
import { zoneAwareNames } from '#config/zone-aware-config.ts';
import { byScope, type ScopedPermissions } from '#kubernetes/authorization/permission.ts';
import { leasePermissions } from '#kubernetes/leader-election/lease-permissions.ts';
import { zoneAwareUpdatePermissions } from '#zone-aware-update/permissions.ts';
import { zoneBudgetPermissions } from '#zone-disruption-budget/permissions.ts';

/** What running under the name of the zone-aware-controllers-for-k8s takes: for both kinds of resources, and the webhook with a certificate of our own. */
export const zoneFrontPermissions: ScopedPermissions = statedPermissions();

function statedPermissions(): ScopedPermissions {
  const certificate = certificatePermissions({
    secret: zoneAwareNames.secret,
    configurations: { mutating: [zoneWebhookName], validating: [] },
  });
  // A rule without names would be for all configurations: there is none of that kind.
  const named = byScope(certificate.filter(({ resourceNames }) => resourceNames?.length !== 0));
  return {
    own: [...leasePermissions(zoneAwareNames.lease), ...zoneBudgetPermissions.own, ...named.own],
    cluster: [...zoneBudgetPermissions.everywhere, ...zoneAwareUpdatePermissions, ...named.cluster],
  };
}
