/** A Role of the operator that lacks one verb on Leases. */
import type { World } from './world.ts';
import { OPERATOR_USER } from './world-operator.ts';

const otherGroups = [
  '',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apps',
  'discovery.k8s.io',
  'events.k8s.io',
  'policy',
  'rollout-operator.grafana.com',
];

/** Takes `lacking` on Leases from the operator's Role, which permits all else. @returns what gives it back */
export function forbidLeases(world: World, ...lacking: readonly string[]): () => void {
  const all = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
  const verbs = all.filter((verb) => !lacking.includes(verb));
  const { authorizer } = world.cluster;
  authorizer.restrict([
    {
      user: OPERATOR_USER,
      rules: [
        { apiGroups: otherGroups, resources: ['*'], verbs: ['*'] },
        { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs },
      ],
    },
  ]);
  return () => authorizer.restrict([]);
}
