import type { Permission } from '#kubernetes/authorization/permission.ts';

const bedrock = 'bedrock.operator.slack.com';

/** What carrying out StatefulsetRollouts takes, in every namespace that has some. */
export const statefulsetRolloutPermissions: readonly Permission[] = Object.freeze([
  {
    group: bedrock,
    resource: 'statefulsetrollouts',
    verbs: ['get', 'list', 'patch', 'watch'],
    because:
      'StatefulsetRollouts are watched, are read before pods go by one that may have been paused, and get and lose their finalizer',
  },
  {
    group: bedrock,
    resource: 'statefulsetrollouts/status',
    verbs: ['patch', 'update'],
    because:
      'the progress of a rollout is stored in the status before a pod goes, and with it the ids of its messages in Slack',
  },
  {
    group: bedrock,
    resource: 'statefulsetrollouts/finalizers',
    verbs: ['update'],
    because: 'a set that is made belongs to its resource, which is kept until the set is gone',
  },
  {
    group: 'apps',
    resource: 'statefulsets',
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'watch'],
    because: 'a resource carries a whole set: it is made, compared, written and deleted',
  },
  {
    group: 'apps',
    resource: 'controllerrevisions',
    verbs: ['get'],
    because: 'the age of a revision distinguishes a rollback from a new version',
  },
  {
    group: '',
    resource: 'pods',
    verbs: ['list', 'watch'],
    because: 'the pods of a set are watched, and read consistently before some may go',
  },
  {
    group: '',
    resource: 'pods/eviction',
    verbs: ['create'],
    because: 'a pod goes by eviction, which every budget may refuse',
  },
  {
    group: '',
    resource: 'pods',
    verbs: ['delete'],
    because:
      'a broken pod of a version that is taken back is deleted, as no budget lets it go once too many are broken',
  },
  {
    group: '',
    resource: 'secrets',
    verbs: ['get'],
    because:
      'the Secrets that resources name have the key that signs callbacks, and the tokens for Slack and for Consul',
  },
  {
    group: 'policy',
    resource: 'poddisruptionbudgets',
    verbs: ['list', 'watch'],
    because: 'the budget that selects the pods says how many may be away at once',
  },
  {
    group: 'autoscaling',
    resource: 'horizontalpodautoscalers',
    verbs: ['list'],
    isOptional: true,
    because: 'replicas that an autoscaler sets are left to it',
  },
  {
    group: '',
    resource: 'events',
    verbs: ['create', 'patch'],
    isOptional: true,
    because: 'Events say what is done, and why nothing is',
  },
]);
