/** What the installs in place of controller-runtime's managers have in common. */
import type { Permission } from '#kubernetes/authorization/permission.ts';
import { roleRules } from '#operator/permissions/permissions.ts';
import { containerSecurity, heapPercentage, memoryLimit } from './deployment.ts';

/** Where a manager is installed, and under which names. */
export interface ManagerPlace {
  readonly namespace: string;
  /** Begins the names of its objects. */
  readonly prefix: string;
  /** Of its objects. */
  readonly labels: Readonly<Record<string, string>>;
  /** Of its pods. */
  readonly podLabels: Readonly<Record<string, string>>;
  /** Whole name of the service account. */
  readonly account: string;
}

/** Numeric: a kubelet cannot tell that a user by name is not root. */
const user = 65_532;
const rbac = 'rbac.authorization.k8s.io';

const probePort = 8_081;

/** Of its pods. */
const managerSecurity = {
  runAsNonRoot: true,
  runAsUser: user,
  runAsGroup: user,
  seccompProfile: { type: 'RuntimeDefault' },
} as const;

/** Returns the metadata of the object `name` in the namespace. */
function placedAs(name: string, { namespace, labels }: ManagerPlace): object {
  return { name, namespace, labels };
}

/** Returns the namespace, the account, and what it may: `own` there, `watched` in all namespaces. */
export function accountObjects(
  { own, watched }: Readonly<Record<'own' | 'watched', readonly Permission[]>>,
  place: ManagerPlace,
): readonly object[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: place.namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: placedAs(place.account, place) },
    ...roleObjects('Role', { what: 'leader-election', permissions: own }, place),
    ...roleObjects('ClusterRole', { what: 'manager', permissions: watched }, place),
  ];
}

/** Returns the Secret of its own certificate, made empty, as no rule for one name can permit creating it. */
export function emptySecret(name: string, place: ManagerPlace): object {
  return { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata: placedAs(name, place) };
}

/** Returns a budget that lets nodes be drained one after the other. */
export function podBudget(name: string, place: ManagerPlace): object {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: placedAs(name, place),
    spec: { maxUnavailable: 1, selector: { matchLabels: place.podLabels } },
  };
}

/** Returns a Role or ClusterRole `<prefix><what>-role` with its binding. */
function roleObjects(
  kind: 'Role' | 'ClusterRole',
  { what, permissions }: { readonly what: string; readonly permissions: readonly Permission[] },
  place: ManagerPlace,
): readonly object[] {
  const { prefix, labels, namespace, account } = place;
  const metadataOf = (suffix: string): object => {
    const name = `${prefix}${what}-${suffix}`;
    return kind === 'ClusterRole' ? { name, labels } : placedAs(name, place);
  };
  const apiVersion = `${rbac}/v1`;
  return [
    { apiVersion, kind, metadata: metadataOf('role'), rules: roleRules(permissions) },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata: metadataOf('rolebinding'),
      roleRef: { apiGroup: rbac, kind, name: `${prefix}${what}-role` },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
    },
  ];
}

/** Returns the Service `<prefix><name>`, which leads to the pods. */
export function httpsService(
  name: string,
  { port, targetPort }: { readonly port: number; readonly targetPort: number },
  place: ManagerPlace,
): object {
  const ports = [{ name: 'https', port, protocol: 'TCP', targetPort }];
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: placedAs(`${place.prefix}${name}`, place),
    spec: { ports, selector: place.podLabels },
  };
}

/** Of what runs a manager. */
export interface ManagerDeployment {
  readonly name: string;
  /** What is the manager's own of its container, beginning with the name. */
  readonly container: Readonly<Record<'name' | 'image', string>> & {
    readonly command?: readonly string[];
    readonly args: readonly string[];
  };
  /** By name. */
  readonly ports: Readonly<Record<string, number>>;
  /** Whether its pods are kept on different nodes where there are some. */
  readonly isSpread: boolean;
  /** @default that of Kubernetes */
  readonly strategy?: object;
}

/** Returns a Deployment of two replicas: one of them leads. */
export function managerDeployment(
  { name, container, ports, isSpread, strategy }: ManagerDeployment,
  place: ManagerPlace,
): object {
  const { account, podLabels } = place;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: placedAs(name, place),
    spec: {
      replicas: 2,
      ...(strategy !== undefined && { strategy }),
      selector: { matchLabels: podLabels },
      template: {
        metadata: { labels: podLabels },
        spec: {
          serviceAccountName: account,
          terminationGracePeriodSeconds: 30,
          ...(isSpread && { affinity: apartFrom(podLabels) }),
          securityContext: managerSecurity,
          containers: [{ ...container, ...containerParts(ports) }],
        },
      },
    },
  };
}

/** Returns what the containers of all managers have, but for the memory that Node takes, as those of controller-runtime. */
function containerParts(ports: ManagerDeployment['ports']): object {
  const probe = (path: string): object => ({ httpGet: { path, port: probePort } });
  return {
    env: [{ name: 'NODE_OPTIONS', value: `--max-old-space-size-percentage=${heapPercentage}` }],
    ports: Object.entries(ports).map(([name, containerPort]) => ({
      name,
      containerPort,
      protocol: 'TCP',
    })),
    livenessProbe: { ...probe('/healthz'), initialDelaySeconds: 15, periodSeconds: 20 },
    readinessProbe: { ...probe('/readyz'), initialDelaySeconds: 5, periodSeconds: 10 },
    resources: {
      requests: { cpu: '10m', memory: '100Mi' },
      limits: { memory: `${memoryLimit}Mi` },
    },
    securityContext: containerSecurity,
  };
}

function apartFrom(podLabels: ManagerPlace['podLabels']): object {
  const apart = {
    weight: 100,
    podAffinityTerm: {
      labelSelector: { matchLabels: podLabels },
      topologyKey: 'kubernetes.io/hostname',
    },
  };
  return { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [apart] } };
}
