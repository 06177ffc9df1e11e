import type { JsonObject } from '#base/json.ts';
import { INJECT_LABEL, NAMESPACE_LABEL } from '#certificate/api.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { webhookPaths } from './webhook-paths.ts';

/** Where the API server finds the webhooks of PhasedRollouts, and whose CA it trusts. */
export interface PhasedWebhookPlace {
  /** The operator's; PhasedRollouts of all namespaces are reviewed. */
  readonly namespace: string;
  /** Begins the names of all objects, as the manifests of the peer have it. @default `sts-phased-rollout-operator-` */
  readonly prefix?: string;
  /** Of the Service. @default 443 */
  readonly port?: number;
  /** Who writes the CA: cert-manager, which the peer asks for it by an annotation, or this program. */
  readonly injector: 'cert-manager' | 'self';
}

/** Begins the names in the manifests of the peer (O4). */
export const phasedRolloutPrefix = 'sts-phased-rollout-operator-';

const { group, version, plural } = resourceTypes.phasedRollouts;

interface Hook {
  readonly kind: 'MutatingWebhookConfiguration' | 'ValidatingWebhookConfiguration';
  readonly object: string;
  readonly name: string;
  readonly path: string;
}

const hooks: readonly Hook[] = [
  {
    kind: 'MutatingWebhookConfiguration',
    object: 'mutating-webhook-configuration',
    name: 'mphasedrollout-v1alpha1.kb.io',
    path: webhookPaths.phasedRolloutDefaults,
  },
  {
    kind: 'ValidatingWebhookConfiguration',
    object: 'validating-webhook-configuration',
    name: 'vphasedrollout-v1alpha1.kb.io',
    path: webhookPaths.phasedRolloutValidation,
  },
];

/** Returns the two configurations of the peer (A5): a review that fails lets the change through. */
export function phasedWebhookConfigurations(place: PhasedWebhookPlace): readonly JsonObject[] {
  return hooks.map((hook) => configuration(hook, place));
}

function configuration(
  { kind, object, name, path }: Hook,
  { namespace, prefix = phasedRolloutPrefix, port, injector }: PhasedWebhookPlace,
): JsonObject {
  const service = { name: `${prefix}webhook-service`, namespace, path };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: {
      name: `${prefix}${object}`,
      ...(injector === 'self'
        ? { labels: { [INJECT_LABEL]: 'true', [NAMESPACE_LABEL]: namespace } }
        : {
            annotations: {
              'cert-manager.io/inject-ca-from': `${namespace}/${prefix}serving-cert`,
            },
          }),
    },
    webhooks: [
      {
        name,
        admissionReviewVersions: ['v1'],
        clientConfig: { service: { ...service, ...(port !== undefined && { port }) } },
        failurePolicy: 'Ignore',
        rules: [
          {
            apiGroups: [group],
            apiVersions: [version],
            operations: ['CREATE', 'UPDATE'],
            resources: [plural],
          },
        ],
        sideEffects: 'None',
      },
    ],
  };
}
