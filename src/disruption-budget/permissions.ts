import type { Permission } from '#kubernetes/permission.ts';

/**
 * What keeping disruption budgets takes, namespaced. The ConfigMaps are `rollout-operator-ledger-<budget>`: no rule can
 * restrict creation to names, and none can name what is called after budgets that do not exist yet.
 */
export const budgetPermissions: readonly Permission[] = Object.freeze([
  {
    group: 'rollout-operator.grafana.com',
    resource: 'zoneawarepoddisruptionbudgets',
    verbs: ['list', 'watch'],
    because: 'the budgets are watched',
  },
  {
    group: '',
    resource: 'pods',
    verbs: ['get'],
    because: 'a pod that is evicted before it has been seen is read',
  },
  {
    group: '',
    resource: 'configmaps',
    verbs: ['create', 'get', 'update'],
    because:
      'which pods of a budget are given away is stored in rollout-operator-ledger-<budget>, before anybody is told that they are',
  },
]);
