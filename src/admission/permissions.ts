import type { Permission } from '#kubernetes/authorization/permission.ts';
import { CLAIMS_NAME } from './claim/claim.ts';

/** Names of objects that flags may change. */
export interface AdmissionNames {
  /** By which the API server calls the webhooks. */
  readonly service: string;
  /** `-zone-tracker.config-map-name`; absent where the mode is off. */
  readonly zoneTracker?: string;
}

/**
 * Returns what the webhooks take in their namespace under the shipped flags, for the objects that the shipped configurations
 * have reviewed; the certificate states its own, and so do disruption budgets, by which evictions are judged. The ConfigMaps
 * are shipped empty: no rule for one name can permit creating it.
 */
export function admissionPermissions({
  service,
  zoneTracker,
}: AdmissionNames): readonly Permission[] {
  return [
    {
      group: 'apps',
      resource: 'statefulsets',
      verbs: ['get', 'list'],
      because: 'the labels of a scaled StatefulSet and the zones of its group are read',
    },
    {
      group: '',
      resource: 'pods',
      verbs: ['list'],
      because: 'no zone shrinks while pods of another are not ready',
    },
    {
      group: '',
      resource: 'configmaps',
      verbs: ['get', 'update'],
      resourceNames: [CLAIMS_NAME],
      because:
        'one zone of a group is let shrink at a time, which all replicas agree on; without, there must be one replica only',
    },
    {
      group: '',
      resource: 'services',
      verbs: ['get'],
      resourceNames: [service],
      isOptional: true,
      because: 'it is looked whether the Service of the webhooks selects this replica',
    },
    ...(zoneTracker === undefined
      ? []
      : [
          {
            group: '',
            resource: 'configmaps',
            verbs: ['get', 'update'],
            resourceNames: [zoneTracker],
            because: 'the times of the last down-scales are kept',
          },
        ]),
  ];
}

/** What the webhooks take in the whole cluster. */
export const admissionClusterPermissions: readonly Permission[] = Object.freeze([
  {
    group: 'admissionregistration.k8s.io',
    resource: 'validatingwebhookconfigurations',
    verbs: ['list', 'watch'],
    isClusterScoped: true,
    because: 'the failure policies of our webhooks are shown as a metric',
  },
  {
    group: 'admissionregistration.k8s.io',
    resource: 'mutatingwebhookconfigurations',
    verbs: ['list', 'watch'],
    isClusterScoped: true,
    because: 'the failure policies of our webhooks are shown as a metric',
  },
]);
