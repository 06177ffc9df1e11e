import { sharedPhasedNames } from '#admission/webhook-configuration/phased-webhook-configurations.ts';
import { sharedZoneName } from '#admission/webhook-configuration/zone-webhook-configuration.ts';
import { certificatePermissions } from '#certificate/permissions.ts';
import {
  byScope,
  type Permission,
  type ScopedPermissions,
} from '#kubernetes/authorization/permission.ts';
import { phasedRolloutPermissions } from '#phased-rollout/permissions.ts';
import { statefulsetRolloutPermissions } from '#statefulset-rollout/permissions.ts';
import { zoneAwareUpdatePermissions } from '#zone-aware-update/permissions.ts';
import { zoneBudgetPermissions } from '#zone-disruption-budget/permissions.ts';
import { usualNames } from './permissions.ts';

/** What running everything takes beyond what the rollout-operator with its webhooks does. */
export interface AllPermissions {
  /** In the namespace of the operator. */
  readonly own: readonly Permission[];
  /** In a ClusterRole: the webhooks carry the CA that the others carry. */
  readonly cluster: readonly Permission[];
  /** What StatefulsetRollouts take, in the namespace of the operator. */
  readonly carriers: readonly Permission[];
  /** What zone-aware controllers take, which few need. */
  readonly zones: ScopedPermissions;
}

/** Returns all that the shipped set-up takes for an operator in `namespace`. */
export function allPermissions(namespace: string): AllPermissions {
  const configurations = sharedPhasedNames(namespace);
  const certificate = certificatePermissions({ secret: usualNames.secret, configurations });
  return {
    own: phasedRolloutPermissions,
    cluster: byScope(certificate).cluster,
    carriers: statefulsetRolloutPermissions,
    zones: zonesIn(namespace),
  };
}

function zonesIn(namespace: string): AllPermissions['zones'] {
  const configurations = { mutating: [sharedZoneName(namespace)], validating: [] };
  const certificate = certificatePermissions({ secret: usualNames.secret, configurations });
  // A rule without names would be for all configurations: there is none of that kind.
  const named = certificate.filter(({ resourceNames }) => resourceNames?.length !== 0);
  const { everywhere, own } = zoneBudgetPermissions;
  const all = [...everywhere, ...own, ...zoneAwareUpdatePermissions];
  return {
    own: byScope(all).own,
    cluster: byScope([...all, ...named]).cluster,
  };
}
