import type { Permission } from '#kubernetes/authorization/permission.ts';

const group = 'rollout-operator.grafana.com';

/**
 * What coordinating replicas takes, namespaced: of mirrored resources, those of ReplicaTemplate, the only kind that is
 * ours; a cluster that mirrors another kind grants the same for it.
 */
export const replicaCoordinationPermissions: readonly Permission[] = Object.freeze([
  {
    group: 'apps',
    resource: 'statefulsets',
    verbs: ['get', 'patch'],
    because: 'spec.replicas of sets that follow a leader or mirror a resource is patched',
  },
  {
    group,
    resource: 'replicatemplates/scale',
    verbs: ['get'],
    because: 'the replicas that sets mirror are read',
  },
  {
    group,
    resource: 'replicatemplates/status',
    verbs: ['patch'],
    isOptional: true,
    because: 'the replicas that sets have are reported to what they mirror',
  },
  {
    group,
    resource: 'replicatemplates',
    verbs: ['list', 'watch'],
    isOptional: true,
    because: 'a change of the replicas to mirror is acted on at once; without, it is polled',
  },
]);

/** Returns what coordinating replicas takes in addition in zone-tracker mode. */
export function zoneTrackerPermissions(configMap: string): readonly Permission[] {
  return [
    {
      group: '',
      resource: 'configmaps',
      verbs: ['get'],
      resourceNames: [configMap],
      because: 'before a follower shrinks it says when each zone was last scaled down',
    },
  ];
}
