import type { Permission } from '#kubernetes/authorization/permission.ts';

/**
 * What obeying disruption budgets takes, namespaced, beyond watching pods, StatefulSets and budgets, which rolling groups
 * does anyway. The ConfigMaps are `rollout-operator-ledger-<budget>`: no rule can restrict creation to names, nor know what
 * is called after budgets that do not exist yet. So it is a Role of its own, for those who have budgets.
 */
export const budgetPermissions: readonly Permission[] = Object.freeze([
  {
    group: '',
    resource: 'pods',
    verbs: ['get'],
    because: 'a pod to evict is read where the cache lacks it, or shows it as not ready',
  },
  {
    group: '',
    resource: 'configmaps',
    verbs: ['create', 'get', 'update'],
    because:
      'which pods of a budget are given away is stored in rollout-operator-ledger-<budget>, before the answer is sent',
  },
]);
