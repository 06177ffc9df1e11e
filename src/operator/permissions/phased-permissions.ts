import { phasedRolloutPrefix } from '#admission/webhook-configuration/phased-webhook-configurations.ts';
import { certificatePermissions } from '#certificate/permissions.ts';
import { phasedNames } from '#config/phased-config.ts';
import type { Permission } from '#kubernetes/authorization/permission.ts';
import { scrapePermissions } from '#kubernetes/authorization/scrape-permissions.ts';
import { leasePermissions } from '#kubernetes/leader-election/lease-permissions.ts';
import { phasedRolloutPermissions } from '#phased-rollout/permissions.ts';

/** What running under the name of the sts-phased-rollout-operator takes. */
export interface PhasedFrontPermissions {
  /** In the namespace of the operator. */
  readonly own: readonly Permission[];
  /** In the whole cluster. */
  readonly cluster: readonly Permission[];
}

/** The webhooks themselves ask nothing: what they take is their certificate, where it is our own. */
export const phasedFrontPermissions: PhasedFrontPermissions = statedPermissions();

function statedPermissions(): PhasedFrontPermissions {
  const certificate = certificatePermissions({
    secret: phasedNames.secret,
    configurations: {
      mutating: [`${phasedRolloutPrefix}mutating-webhook-configuration`],
      validating: [`${phasedRolloutPrefix}validating-webhook-configuration`],
    },
  });
  const isForCluster = ({ isClusterScoped = false }: Permission): boolean => isClusterScoped;
  return {
    own: [
      ...leasePermissions(phasedNames.lease),
      ...certificate.filter((each) => !isForCluster(each)),
    ],
    cluster: [
      ...phasedRolloutPermissions,
      ...certificate.filter(isForCluster),
      ...scrapePermissions,
    ],
  };
}
