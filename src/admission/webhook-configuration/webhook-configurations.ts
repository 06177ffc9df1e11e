import type { JsonObject } from '#base/json.ts';
import { INJECT_LABEL, NAMESPACE_LABEL } from '#certificate/api.ts';
import type { WebhookKind } from '#certificate/webhook-configuration.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';

/** Where the API server finds the webhooks, and what it does when it does not. */
export interface WebhookPlace {
  /** The operator's, which is also the only one whose objects are reviewed. */
  readonly namespace: string;
  /** @default `rollout-operator` */
  readonly service?: string;
  /** The port of the Service. @default 443 */
  readonly port?: number;
  /** Whether a change is made when its review fails. @default `Fail` */
  readonly failurePolicy?: 'Fail' | 'Ignore';
  /** Whether the API server reads match conditions, as Kubernetes does from 1.30 on. @default true */
  readonly isConditional?: boolean;
}

interface WebhookStatement {
  readonly hook: string;
  readonly kind: 'ValidatingWebhookConfiguration' | 'MutatingWebhookConfiguration';
  readonly sideEffects: 'None' | 'NoneOnDryRun';
  readonly rule: JsonObject;
  /** Which of the requests are reviewed where the API server can tell. @default all */
  readonly matchConditions?: readonly JsonObject[];
  /** Else those of the API. */
  readonly limits?: { readonly matchPolicy: 'Equivalent'; readonly timeoutSeconds: number };
}

/**
 * Is true of a change that may be a downscale. The rest asks nobody, so that it does not fail while no replica answers: among it
 * what removes the finalizer of an orphaned set. No replicas are 0 for a Scale, and are in no StatefulSet that is stored.
 */
const mayShrink =
  '!has(object.spec) || !has(oldObject.spec) || ' +
  '(has(object.spec.replicas) ? object.spec.replicas : 0) < ' +
  '(has(oldObject.spec.replicas) ? oldObject.spec.replicas : 1)';

const downscales = {
  matchConditions: [{ name: 'may-shrink', expression: mayShrink }],
  rule: {
    operations: ['UPDATE'],
    apiGroups: ['apps'],
    apiVersions: ['v1'],
    resources: ['statefulsets', 'statefulsets/scale'],
    scope: 'Namespaced',
  },
  limits: { matchPolicy: 'Equivalent', timeoutSeconds: 10 },
} as const;

/** An Eviction that is tried out takes nothing; one that is not has its pod noted as given away. */
const evictions = {
  rule: {
    operations: ['CREATE'],
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: ['pods/eviction'],
    scope: 'Namespaced',
  },
  limits: { matchPolicy: 'Equivalent', timeoutSeconds: 10 },
} as const;

const { group, version, plural } = resourceTypes.zoneAwarePodDisruptionBudgets;

const statements: readonly WebhookStatement[] = [
  {
    hook: 'no-downscale',
    kind: 'ValidatingWebhookConfiguration',
    sideEffects: 'None',
    ...downscales,
  },
  // It mutates nothing, but has effects.
  {
    hook: 'prepare-downscale',
    kind: 'MutatingWebhookConfiguration',
    sideEffects: 'NoneOnDryRun',
    ...downscales,
  },
  {
    hook: 'pod-eviction',
    kind: 'ValidatingWebhookConfiguration',
    sideEffects: 'NoneOnDryRun',
    ...evictions,
  },
  {
    hook: 'zpdb-validation',
    kind: 'ValidatingWebhookConfiguration',
    sideEffects: 'None',
    rule: {
      operations: ['CREATE', 'UPDATE'],
      apiGroups: [group],
      apiVersions: [version],
      resources: [plural],
      scope: 'Namespaced',
    },
  },
];

/**
 * Returns the configurations of the webhooks, as the peer ships them but for their match conditions. They have no objectSelector,
 * as a scale subresource matches none, and carry no CA: the operator writes it.
 */
export function webhookConfigurations(place: WebhookPlace): readonly JsonObject[] {
  return statements.map((statement) => configuration(statement, place));
}

/** Returns the names of {@link webhookConfigurations}. @param namespace the operator's */
export function webhookConfigurationNames(
  namespace: string,
): Readonly<Record<WebhookKind, readonly string[]>> {
  const namesOf = (wanted: WebhookStatement['kind']): readonly string[] =>
    statements.filter(({ kind }) => kind === wanted).map(({ hook }) => nameOf(hook, namespace));
  return {
    validating: namesOf('ValidatingWebhookConfiguration'),
    mutating: namesOf('MutatingWebhookConfiguration'),
  };
}

function nameOf(hook: string, namespace: string): string {
  return `${hook}-${namespace}`;
}

function configuration(
  { hook, kind, sideEffects, rule, matchConditions, limits }: WebhookStatement,
  {
    namespace,
    service = 'rollout-operator',
    port = 443,
    failurePolicy = 'Fail',
    isConditional = true,
  }: WebhookPlace,
): JsonObject {
  const name = nameOf(hook, namespace);
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name, labels: { [INJECT_LABEL]: 'true', [NAMESPACE_LABEL]: namespace } },
    webhooks: [
      {
        name: `${name}.grafana.com`,
        clientConfig: { service: { name: service, namespace, path: `/admission/${hook}`, port } },
        rules: [rule],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        ...(isConditional && matchConditions !== undefined && { matchConditions }),
        failurePolicy,
        ...(limits !== undefined && { matchPolicy: limits.matchPolicy }),
        sideEffects,
        ...(limits !== undefined && { timeoutSeconds: limits.timeoutSeconds }),
        admissionReviewVersions: ['v1'],
      },
    ],
  };
}

/** Returns the Service that the API server calls: the webhooks listen on the port named `https`. */
export function webhookService(labels: Readonly<Record<string, string>>): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'rollout-operator', labels },
    spec: {
      type: 'ClusterIP',
      selector: labels,
      ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 'https' }],
    },
  };
}
