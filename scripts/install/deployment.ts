/**
 * The Deployment of the operator, of which manifests, chart and kustomize base are made; the other files of this folder
 * add what each form has. They only build objects: what is written, and where, is decided by generate-deploy.ts and
 * generate-install.ts.
 */

/** What the operator, and all that is its alone, is called. */
export const name = 'rollout-operator';
/** Of its pods. */
export const podLabels = { name };
/** Numeric: a kubelet cannot tell that a user by name is not root. */
const user = 65_532;

/** Of the container, in MiB, as the peer ships it. */
export const memoryLimit = 200;

/**
 * Of the container's limit, for the old generation of the heap: 96 of 200 MiB. Measured with all of the program loaded and
 * 16 MiB of reviews at hand, the process is 191 MiB large when it is full. It ends then with a sentence in its log; the
 * kernel, which comes a little later, would end it without one.
 */
export const heapPercentage = 48;

/** What that is, as Node takes it outside of a container, in MiB. */
export const heapOfContainer = Math.floor((memoryLimit * heapPercentage) / 100);

/** Of each container: it needs nothing of the machine. */
export const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
} as const;

/** Returns the image of `version` as it is built here: of no registry. */
export function builtImage(version: string): string {
  return `${name}:${version}`;
}

/** What the two set-ups differ in. */
export interface SetUp {
  readonly args: readonly string[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
}

/** Without webhooks. */
export const plain: SetUp = {
  args: ['-kubernetes.namespace=$(NAMESPACE)'],
  ports: [{ name: 'http-metrics', containerPort: 8001 }],
};

/** With webhooks. */
export const withWebhooks: SetUp = {
  // Without the zone tracker each scale-down would write to the very set that is being scaled.
  args: [...plain.args, '-server-tls.enabled=true', '-use-zone-tracker=true'],
  ports: [...plain.ports, { name: 'https', containerPort: 8443 }],
};

/** Returns the Deployment of one of them. */
export function deployment(image: string, { args, ports }: SetUp): object {
  const fieldRef = { fieldPath: 'metadata.namespace' };
  const container = {
    name,
    image,
    args,
    env: [
      { name: 'NAMESPACE', valueFrom: { fieldRef } },
      { name: 'NODE_OPTIONS', value: `--max-old-space-size-percentage=${heapPercentage}` },
    ],
    ports,
    readinessProbe: { httpGet: { path: '/ready', port: 'http-metrics' }, timeoutSeconds: 1 },
    // A blocked event loop answers nothing. A minute of it: a restart costs the group 120 s of waiting.
    livenessProbe: {
      httpGet: { path: '/live', port: 'http-metrics' },
      periodSeconds: 10,
      timeoutSeconds: 5,
      failureThreshold: 6,
    },
    resources: {
      requests: { cpu: '100m', memory: '100Mi' },
      limits: { memory: `${memoryLimit}Mi` },
    },
    securityContext: containerSecurity,
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      // One of them disrupts at a time; each answers webhooks, so that none fails while the other is away.
      replicas: 2,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
      selector: { matchLabels: podLabels },
      template: {
        metadata: { labels: podLabels },
        spec: {
          serviceAccountName: name,
          // What is under way is answered, and pods that were prepared in vain are notified: 30 s, and some for the drain.
          terminationGracePeriodSeconds: 60,
          affinity: { podAntiAffinity: apart },
          securityContext: {
            runAsNonRoot: true,
            runAsUser: user,
            runAsGroup: user,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          containers: [container],
        },
      },
    },
  };
}

/** Preferred only: a cluster of one node runs both replicas there. */
const apart = {
  preferredDuringSchedulingIgnoredDuringExecution: [
    {
      weight: 100,
      podAffinityTerm: {
        labelSelector: { matchLabels: podLabels },
        topologyKey: 'kubernetes.io/hostname',
      },
    },
  ],
};
