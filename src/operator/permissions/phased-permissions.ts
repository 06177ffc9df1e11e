import { phasedRolloutPrefix } from '#admission/webhook-configuration/phased-webhook-configurations.ts';
import { certificatePermissions } from '#certificate/permissions.ts';
import { phasedNames } from '#config/phased-config.ts';
import { byScope, type ScopedPermissions } from '#kubernetes/authorization/permission.ts';
import { scrapePermissions } from '#kubernetes/authorization/scrape-permissions.ts';
import { leasePermissions } from '#kubernetes/leader-election/lease-permissions.ts';
import { phasedRolloutPermissions } from '#phased-rollout/permissions.ts';

/**
 * What running under the name of the sts-phased-rollout-operator takes. The webhooks themselves make no requests: what they take is their certificate, where it is our own.
 */
export const phasedFrontPermissions: ScopedPermissions = statedPermissions();

function statedPermissions(): ScopedPermissions {
  const stated = certificatePermissions({
    secret: phasedNames.secret,
    configurations: {
      mutating: [`${phasedRolloutPrefix}mutating-webhook-configuration`],
      validating: [`${phasedRolloutPrefix}validating-webhook-configuration`],
    },
  });
  const certificate = byScope(stated);
  return {
    own: [...leasePermissions(phasedNames.lease), ...certificate.own],
    cluster: [...phasedRolloutPermissions, ...certificate.cluster, ...scrapePermissions],
  };
}
