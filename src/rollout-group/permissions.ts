import type { Permission } from '#kubernetes/authorization/permission.ts';

/** What rolling groups takes, namespaced. `SelfSubjectAccessReview` is granted to every account by `system:basic-user`. */
export const rolloutGroupPermissions: readonly Permission[] = Object.freeze([
  {
    group: '',
    resource: 'pods',
    verbs: ['list', 'watch'],
    because: 'the pods of a group are watched, and read consistently before the first deletion',
  },
  {
    group: '',
    resource: 'pods',
    verbs: ['delete'],
    because: 'an outdated pod is deleted; the StatefulSet controller creates its successor',
  },
  {
    group: 'apps',
    resource: 'statefulsets',
    verbs: ['get', 'list', 'watch'],
    because: 'the StatefulSets of a group are watched, and read before their status is written',
  },
  {
    group: 'apps',
    resource: 'statefulsets/status',
    verbs: ['update'],
    because: 'status.currentRevision is set when all pods are updated',
  },
  {
    group: 'rollout-operator.grafana.com',
    resource: 'zoneawarepoddisruptionbudgets',
    verbs: ['list', 'watch'],
    because: 'what such a budget protects is taken away only as far as it allows',
  },
  {
    group: '',
    resource: 'events',
    verbs: ['create', 'patch'],
    isOptional: true,
    because: 'Events say what is done, and why nothing is',
  },
]);
