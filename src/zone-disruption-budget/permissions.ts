import type { Permission } from '#kubernetes/authorization/permission.ts';

/** What ZoneDisruptionBudgets take, by what is granted where. */
export interface ZoneBudgetPermissions {
  /** In every namespace. */
  readonly everywhere: readonly Permission[];
  /** In the namespace of the operator. */
  readonly own: readonly Permission[];
}

/**
 * What obeying ZoneDisruptionBudgets takes, and looking at pods and their zones. Of the ledgers only the beginnings of the
 * names are known, which no rule can say.
 */
export const zoneBudgetPermissions: ZoneBudgetPermissions = Object.freeze({
  everywhere: [
    {
      group: 'zonecontrol.k8s.aws',
      resource: 'zonedisruptionbudgets',
      verbs: ['list', 'watch'],
      because: 'ZoneDisruptionBudgets are watched',
    },
    {
      group: 'zonecontrol.k8s.aws',
      resource: 'zonedisruptionbudgets/status',
      verbs: ['update'],
      because: 'what each zone may still lose is stored in the status',
    },
    {
      group: 'apps',
      resource: 'statefulsets',
      verbs: ['list', 'watch'],
      because: 'the sets are watched: they state how many pods there should be',
    },
    {
      group: '',
      resource: 'pods',
      verbs: ['get', 'list', 'watch'],
      because:
        'the pods are watched, read consistently before one may go, and one to evict is read that is not seen',
    },
    {
      group: '',
      resource: 'nodes',
      verbs: ['list', 'watch'],
      isClusterScoped: true,
      because: 'the label topology.kubernetes.io/zone of a node is the zone of its pods',
    },
  ],
  own: [
    {
      group: '',
      resource: 'configmaps',
      verbs: ['create', 'get', 'update'],
      because:
        'which pods of a budget are given away is stored in rollout-operator-zone-ledger-<namespace>.<budget>, before the answer is sent',
    },
  ],
});
