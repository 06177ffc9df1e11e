/** deploy/statefulset-rollout: what a cluster needs to run this program for StatefulsetRollouts alone. */
import type { Permission } from '#kubernetes/authorization/permission.ts';
import { roleRules } from '#operator/permissions/permissions.ts';
import { statefulsetFrontPermissions } from '#operator/permissions/statefulset-permissions.ts';
import { statefulsetRolloutDefinition } from '#statefulset-rollout/definition.ts';
import { containerSecurity, heapPercentage, memoryLimit } from './deployment.ts';
import { type ManagerPlace, managerSecurity, placedAs, roleObjects } from './manager-objects.ts';

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
const [metricsPort, probePort] = [8_080, 8_081];
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
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: placedAs(place.account, place) },
      ...roleObjects('Role', { what: 'leader-election', permissions: own }, place),
      ...roleObjects('ClusterRole', { what: 'manager', permissions: watched }, place),
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: placedAs(place.account, place),
        spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
      },
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
  const probe = (path: string): object => ({ httpGet: { path, port: probePort } });
  const container = {
    name: 'operator',
    image,
    args: ['statefulset-rollout'],
    env: [{ name: 'NODE_OPTIONS', value: `--max-old-space-size-percentage=${heapPercentage}` }],
    ports: [{ name: 'http-metrics', containerPort: metricsPort, protocol: 'TCP' }],
    livenessProbe: { ...probe('/healthz'), initialDelaySeconds: 15, periodSeconds: 20 },
    readinessProbe: { ...probe('/readyz'), initialDelaySeconds: 5, periodSeconds: 10 },
    resources: {
      requests: { cpu: '10m', memory: '100Mi' },
      limits: { memory: `${memoryLimit}Mi` },
    },
    securityContext: containerSecurity,
  };
  const apart = {
    weight: 100,
    podAffinityTerm: {
      labelSelector: { matchLabels: labels },
      topologyKey: 'kubernetes.io/hostname',
    },
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: placedAs(place.account, place),
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: place.account,
          terminationGracePeriodSeconds: 30,
          affinity: {
            podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [apart] },
          },
          securityContext: managerSecurity,
          containers: [container],
        },
      },
    },
  };
}
