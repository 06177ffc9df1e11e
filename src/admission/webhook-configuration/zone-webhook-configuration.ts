import type { JsonObject } from '#base/json.ts';
import { INJECT_LABEL, NAMESPACE_LABEL } from '#certificate/api.ts';
import { webhookPaths } from './webhook-paths.ts';

/** Where the API server finds the webhook of ZoneDisruptionBudgets, and whose CA it trusts. */
export interface ZoneWebhookPlace {
  /** The operator's; evictions of all namespaces are reviewed, but for this one and `kube-system`. */
  readonly namespace: string;
  /** The port of the Service. @default 443 */
  readonly port?: number;
  /** Who writes the CA: cert-manager, which is asked for it by an annotation, or this program. */
  readonly injector: 'cert-manager' | 'self';
}

/** Begins the names in the manifests of the peer (OPS-9). */
export const zoneAwarePrefix = 'zone-aware-controllers-';

/** The name of {@link zoneWebhookConfiguration}. */
export const zoneWebhookName: string = `${zoneAwarePrefix}mutating-webhook-configuration`;

/**
 * Returns the configuration that the peer means to have, and leaves out of its install (EV-2, W-31): an eviction that no
 * server reviews is refused. What the operator itself needs to come back may always be evicted (W-33).
 */
export function zoneWebhookConfiguration({
  namespace,
  port,
  injector,
}: ZoneWebhookPlace): JsonObject {
  const asked =
    injector === 'self'
      ? { labels: { [INJECT_LABEL]: 'true', [NAMESPACE_LABEL]: namespace } }
      : {
          annotations: {
            'cert-manager.io/inject-ca-from': `${namespace}/${zoneAwarePrefix}serving-cert`,
          },
        };
  const service = {
    name: `${zoneAwarePrefix}webhook-service`,
    namespace,
    path: webhookPaths.zonePodEviction,
    ...(port !== undefined && { port }),
  };
  const others = {
    key: 'kubernetes.io/metadata.name',
    operator: 'NotIn',
    values: ['kube-system', namespace],
  };
  return configuration({ name: zoneWebhookName, ...asked }, service, {
    matchExpressions: [others],
  });
}

/** Where the API server finds it in addition to the webhooks of rollout groups, which review the operator's own namespace. */
export interface SharedZoneWebhookPlace extends Pick<ZoneWebhookPlace, 'namespace' | 'port'> {
  /** @default `rollout-operator` */
  readonly service?: string;
}

/** Returns the name of {@link sharedZoneConfiguration}. @param namespace the operator's */
export function sharedZoneName(namespace: string): string {
  return `zone-disruption-budgets-${namespace}`;
}

/** Returns the configuration for the program that runs everything: by its Service, with its CA, and for its namespace. */
export function sharedZoneConfiguration({
  namespace,
  service = 'rollout-operator',
  port,
}: SharedZoneWebhookPlace): JsonObject {
  const labels = { [INJECT_LABEL]: 'true', [NAMESPACE_LABEL]: namespace };
  const place = {
    name: service,
    namespace,
    path: webhookPaths.zonePodEviction,
    ...(port !== undefined && { port }),
  };
  return configuration({ name: sharedZoneName(namespace), labels }, place, {
    matchLabels: { 'kubernetes.io/metadata.name': namespace },
  });
}

function configuration(
  metadata: JsonObject,
  service: JsonObject,
  namespaceSelector: JsonObject,
): JsonObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata,
    webhooks: [
      {
        name: 'eviction.zone-aware-controllers.svc',
        admissionReviewVersions: ['v1', 'v1beta1'],
        clientConfig: { service },
        failurePolicy: 'Fail',
        matchPolicy: 'Equivalent',
        namespaceSelector,
        rules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE'],
            resources: ['pods/eviction'],
          },
        ],
        // What is allowed is stored, unless the request is a dry run.
        sideEffects: 'NoneOnDryRun',
        timeoutSeconds: 10,
      },
    ],
  };
}
