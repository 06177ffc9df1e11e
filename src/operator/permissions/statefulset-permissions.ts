import { statefulsetNames } from '#config/statefulset-config.ts';
import type { Permission } from '#kubernetes/authorization/permission.ts';
import { leasePermissions } from '#kubernetes/leader-election/lease-permissions.ts';
import { statefulsetRolloutPermissions } from '#statefulset-rollout/permissions.ts';

/** What running as `statefulset-rollout` takes. */
export interface StatefulsetFrontPermissions {
  /** In the namespace of the operator. */
  readonly own: readonly Permission[];
  /** In every namespace that has StatefulsetRollouts, or in the only one that is watched. */
  readonly watched: readonly Permission[];
}

/** All of it: there is no webhook, and so no certificate. */
export const statefulsetFrontPermissions: StatefulsetFrontPermissions = Object.freeze({
  own: leasePermissions(statefulsetNames.lease),
  watched: statefulsetRolloutPermissions,
});
