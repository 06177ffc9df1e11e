import type { Permission } from '#kubernetes/permission.ts';
import { CLAIMS_NAME } from './claim.ts';

/** What the webhooks take in their namespace; the certificate states its own. */
export const admissionPermissions: readonly Permission[] = Object.freeze([
  {
    group: 'apps',
    resource: 'statefulsets',
    verbs: ['get', 'list', 'patch'],
    because:
      'the labels of a scaled StatefulSet and the zones of its group are read, and its last down-scale is noted',
  },
  {
    group: 'apps',
    resource: 'deployments',
    verbs: ['get'],
    isOptional: true,
    because: 'the label that forbids down-scales is read where a Deployment is scaled',
  },
  {
    group: 'apps',
    resource: 'replicasets',
    verbs: ['get'],
    isOptional: true,
    because: 'the label that forbids down-scales is read where a ReplicaSet is scaled',
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
    // A rule for one name cannot permit to create it.
    verbs: ['create'],
    because: 'the two ConfigMaps below are made where there is none',
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
    resource: 'configmaps',
    verbs: ['get', 'update'],
    resourceNames: ['rollout-operator-zone-tracker'],
    because:
      'in zone-tracker mode the times of the last down-scales are kept, under the name that -zone-tracker.config-map-name gives',
  },
  {
    group: 'rollout-operator.grafana.com',
    resource: 'zoneawarepoddisruptionbudgets',
    verbs: ['list'],
    because: 'no pod is evicted where such a budget exists, as this version does not have them yet',
  },
]);

/** What the webhooks take in the whole cluster. */
export const admissionClusterPermissions: readonly Permission[] = Object.freeze([
  {
    group: 'admissionregistration.k8s.io',
    resource: 'validatingwebhookconfigurations',
    verbs: ['list', 'watch'],
    because: 'the failure policies of our webhooks are shown as a metric',
  },
  {
    group: 'admissionregistration.k8s.io',
    resource: 'mutatingwebhookconfigurations',
    verbs: ['list', 'watch'],
    because: 'the failure policies of our webhooks are shown as a metric',
  },
]);
