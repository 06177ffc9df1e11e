import type { JsonObject } from '#base/json.ts';
import { INJECT_LABEL, NAMESPACE_LABEL } from '#certificate/api.ts';
import type { WebhookKind } from '#certificate/webhook-configuration.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { webhookPaths } from './webhook-paths.ts';

/** Where the API server finds the webhooks of PhasedRollouts, and whose CA it trusts. */
export interface PhasedWebhookPlace {
  /** The operator's; PhasedRollouts of all namespaces are reviewed. */
  readonly namespace: string;
  /** Begins the names of all objects, as the manifests of the peer have it. @default `sts-phased-rollout-operator-` */
  readonly prefix?: string;
  /** The port of the Service. @default 443 */
  readonly port?: number;
  /** Who writes the CA: cert-manager, which the peer asks for it by an annotation, or this program. */
  readonly injector: 'cert-manager' | 'self';
}

/** Begins the names in the manifests of the peer. */
export const phasedRolloutPrefix = 'sts-phased-rollout-operator-';

const { group, version, plural } = resourceTypes.phasedRollouts;

interface Hook {
  readonly kind: 'MutatingWebhookConfiguration' | 'ValidatingWebhookConfiguration';
  readonly object: string;
  /** Begins the name of the object where the namespace ends it. */
  readonly own: string;
  readonly name: string;
  readonly path: string;
}

const hooks: readonly Hook[] = [
  {
    kind: 'MutatingWebhookConfiguration',
    object: 'mutating-webhook-configuration',
    own: 'phased-rollout-defaults',
    name: 'mphasedrollout-v1alpha1.kb.io',
    path: webhookPaths.phasedRolloutDefaults,
  },
  {
    kind: 'ValidatingWebhookConfiguration',
    object: 'validating-webhook-configuration',
    own: 'phased-rollout-validation',
    name: 'vphasedrollout-v1alpha1.kb.io',
    path: webhookPaths.phasedRolloutValidation,
  },
];

/** Returns the two configurations of the peer: a review that fails lets the change through. */
export function phasedWebhookConfigurations(place: PhasedWebhookPlace): readonly JsonObject[] {
  return hooks.map((hook) => configuration(hook, place));
}

/** Where the API server finds them in addition to the webhooks of rollout groups, which review the operator's own namespace. */
export interface SharedWebhookPlace {
  readonly namespace: string;
  /** @default `rollout-operator` */
  readonly service?: string;
  /** The port of the Service. @default 443 */
  readonly port?: number;
}

/** Returns the two configurations for the program that runs everything: by its Service, and with its CA. */
export function sharedPhasedConfigurations({
  namespace,
  service = 'rollout-operator',
  port,
}: SharedWebhookPlace): readonly JsonObject[] {
  return hooks.map((hook) => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: hook.kind,
    metadata: { name: ownName(hook, namespace), labels: injected(namespace) },
    webhooks: [
      {
        ...webhookOf(hook, { name: service, namespace, port }),
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      },
    ],
  }));
}

/** Returns the names of {@link sharedPhasedConfigurations}. @param namespace the operator's */
export function sharedPhasedNames(
  namespace: string,
): Readonly<Record<WebhookKind, readonly string[]>> {
  const namesOf = (wanted: Hook['kind']): readonly string[] =>
    hooks.filter(({ kind }) => kind === wanted).map((hook) => ownName(hook, namespace));
  return {
    mutating: namesOf('MutatingWebhookConfiguration'),
    validating: namesOf('ValidatingWebhookConfiguration'),
  };
}

function ownName({ own }: Hook, namespace: string): string {
  return `${own}-${namespace}`;
}

function injected(namespace: string): JsonObject {
  return { [INJECT_LABEL]: 'true', [NAMESPACE_LABEL]: namespace };
}

function configuration(
  hook: Hook,
  { namespace, prefix = phasedRolloutPrefix, port, injector }: PhasedWebhookPlace,
): JsonObject {
  const { kind, object } = hook;
  const certificate = `${namespace}/${prefix}serving-cert`;
  const asked =
    injector === 'self'
      ? { labels: injected(namespace) }
      : { annotations: { 'cert-manager.io/inject-ca-from': certificate } };
  const service = { name: `${prefix}webhook-service`, namespace, port };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name: `${prefix}${object}`, ...asked },
    webhooks: [webhookOf(hook, service)],
  };
}

function webhookOf(
  { name, path }: Hook,
  {
    port,
    ...service
  }: { readonly name: string; readonly namespace: string; readonly port: number | undefined },
): JsonObject {
  return {
    name,
    admissionReviewVersions: ['v1'],
    clientConfig: { service: { ...service, path, ...(port !== undefined && { port }) } },
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
  };
}
