import type { Permission } from '#kubernetes/authorization/permission.ts';

/** What rolling out by PhasedRollouts takes, in every namespace that has some. */
export const phasedRolloutPermissions: readonly Permission[] = Object.freeze([
  {
    group: 'sts.plus',
    resource: 'phasedrollouts',
    verbs: ['list', 'patch', 'watch'],
    because: 'PhasedRollouts are watched, and get and lose their finalizer',
  },
  {
    group: 'sts.plus',
    resource: 'phasedrollouts/status',
    verbs: ['update'],
    because: 'the progress of a rollout is stored in the status',
  },
  {
    group: 'apps',
    resource: 'statefulsets',
    verbs: ['list', 'patch', 'watch'],
    because: 'the sets are watched; their partition says how many pods may be updated',
  },
  {
    group: '',
    resource: 'pods',
    verbs: ['list', 'watch'],
    because: 'the pods of a set are watched, and read consistently before the next one may go',
  },
  {
    group: '',
    resource: 'pods',
    verbs: ['delete'],
    isOptional: true,
    because:
      'a pod that cannot become ready is replaced where its successor runs another revision; the StatefulSet controller does not',
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
    resource: 'secrets',
    verbs: ['get'],
    because: 'the Secret that spec.check.query.secretRef names has the credentials for Prometheus',
  },
  {
    group: '',
    resource: 'events',
    verbs: ['create', 'patch'],
    isOptional: true,
    because: 'Events say what is done, and why nothing is',
  },
]);
