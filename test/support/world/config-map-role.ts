/** A Role of the operator without ConfigMaps, as the first peer's chart has. */
import type { World } from './world.ts';
import { OPERATOR_USER } from './world-operator.ts';

const groups = [
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apps',
  'authorization.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'policy',
  'rollout-operator.grafana.com',
];
const resources = ['pods', 'pods/eviction', 'events', 'secrets', 'services', 'endpoints', 'nodes'];

/** Takes ConfigMaps from the operator's Role, which permits all else. @returns what gives them back */
export function forbidConfigMaps(world: World): () => void {
  const { authorizer } = world.cluster;
  authorizer.restrict([
    {
      user: OPERATOR_USER,
      rules: [
        { apiGroups: groups, resources: ['*'], verbs: ['*'] },
        { apiGroups: [''], resources, verbs: ['*'] },
      ],
    },
  ]);
  return () => authorizer.restrict([]);
}
