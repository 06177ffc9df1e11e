import { sharedPhasedNames } from '#admission/phased-webhook-configurations.ts';
import { certificatePermissions } from '#certificate/permissions.ts';
import type { Permission } from '#kubernetes/permission.ts';
import { usualNames } from '#operator-permissions.ts';
import { phasedRolloutPermissions } from '#phased-rollout/permissions.ts';

/** What running everything takes beyond what the rollout-operator with its webhooks does. */
export interface AllPermissions {
  /** In the namespace of the operator. */
  readonly own: readonly Permission[];
  /** In a ClusterRole: the webhooks carry the CA that the others carry. */
  readonly cluster: readonly Permission[];
}

/** All that the shipped set-up takes for an operator in `namespace`. */
export function allPermissions(namespace: string): AllPermissions {
  const configurations = sharedPhasedNames(namespace);
  const certificate = certificatePermissions({ secret: usualNames.secret, configurations });
  return {
    own: phasedRolloutPermissions,
    cluster: certificate.filter(({ isClusterScoped = false }) => isClusterScoped),
  };
}
