/** deploy/statefulset-rollout: what a cluster needs to run this program for StatefulsetRollouts alone. */
import type { Permission } from '#kubernetes/authorization/permission.ts';
import { roleRules } from '#operator/permissions/permissions.ts';
import { statefulsetFrontPermissions } from '#operator/permissions/statefulset-permissions.ts';
import { statefulsetRolloutDefinition } from '#statefulset-rollout/definition.ts';
import {
  accountObjects,
  type ManagerPlace,
  managerDeployment,
  podBudget,
} from './manager-objects.ts';

const namespace = 'statefulset-rollout-system';
const labels = {
  'app.kubernetes.io/name': 'statefulset-rollout-operator',
  'control-plane': 'controller-manager',
};
const place: ManagerPlace = {
  namespace,
  prefix: 'statefulset-rollout-',
  labels,
  podLabels: labels,
  account: 'statefulset-rollout-operator',
};
const { own } = statefulsetFrontPermissions;
/** Secrets are read where resources name some, and by name: an installation that uses them grants that where they are (G-22). */
const watched = statefulsetFrontPermissions.watched.filter(
  ({ resource }) => resource !== 'secrets',
);

/** Returns the objects of each file. */
export function statefulsetRolloutObjects(
  image: string,
): Readonly<Record<string, readonly object[]>> {
  return {
    'definition.yaml': [statefulsetRolloutDefinition],
    'operator.yaml': [
      ...accountObjects({ own, watched }, place),
      podBudget(place.account, place),
      deployment(image),
    ],
    'roles-of-users.yaml': usersRoles(),
  };
}

/** What the manifests permit, for the comments in them. */
export const statefulsetRolloutReasons: readonly Permission[] = [...own, ...watched];

/** They add to the roles view and edit of every cluster (G-25); statuses are the operator's alone to write. */
function usersRoles(): readonly object[] {
  const roleOf = (of: string, to: readonly string[], verbs: readonly string[]): object => {
    const permission = {
      group: 'bedrock.operator.slack.com',
      resource: 'statefulsetrollouts',
      verbs,
      because: '',
    };
    const aggregated = to.map((each): readonly [string, string] => [
      `rbac.authorization.k8s.io/aggregate-to-${each}`,
      'true',
    ]);
    return {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: {
        name: `statefulset-rollout-${of}-role`,
        labels: { ...labels, ...Object.fromEntries(aggregated) },
      },
      rules: roleRules([permission]),
    };
  };
  const reading = ['get', 'list', 'watch'];
  const writing = ['create', 'delete', 'deletecollection', 'patch', 'update'];
  return [
    roleOf('viewer', ['view'], reading),
    roleOf('editor', ['edit', 'admin'], [...reading, ...writing]),
  ];
}

function deployment(image: string): object {
  return managerDeployment(
    {
      name: place.account,
      container: { name: 'operator', image, args: ['statefulset-rollout'] },
      ports: { 'http-metrics': 8_080 },
      isSpread: true,
    },
    place,
  );
}
