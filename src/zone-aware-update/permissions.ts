import type { Permission } from '#kubernetes/authorization/permission.ts';

/** What carrying ZoneAwareUpdates out takes, in every namespace that has some, beyond what pods and their zones are watched with. */
export const zoneAwareUpdatePermissions: readonly Permission[] = Object.freeze([
  {
    group: 'zonecontrol.k8s.aws',
    resource: 'zoneawareupdates',
    verbs: ['get', 'list', 'watch'],
    because:
      'ZoneAwareUpdates are watched, and read again where one was edited while a step was taken',
  },
  {
    group: 'zonecontrol.k8s.aws',
    resource: 'zoneawareupdates/status',
    verbs: ['update'],
    because: 'the progress of an update is stored in the status',
  },
  {
    group: 'apps',
    resource: 'statefulsets',
    verbs: ['get'],
    because: 'a set is read once more before its current revision is written',
  },
  {
    group: 'apps',
    resource: 'statefulsets/status',
    verbs: ['update'],
    because: 'the current revision is written once every pod runs the update revision',
  },
  {
    group: '',
    resource: 'pods',
    verbs: ['delete'],
    because: 'a pod is deleted for the StatefulSet controller to recreate it',
  },
  {
    group: 'rollout-operator.grafana.com',
    resource: 'zoneawarepoddisruptionbudgets',
    verbs: ['list', 'watch'],
    isOptional: true,
    because: 'a pod that such a budget protects may go only as far as it allows',
  },
  {
    group: '',
    resource: 'events',
    verbs: ['create', 'patch'],
    isOptional: true,
    because: 'Events say what is done, and why nothing is',
  },
]);
