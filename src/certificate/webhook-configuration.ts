import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { Cached, Informer, InformerProblem } from '#kubernetes/informer/informer.ts';
import { parseIdentity } from '#kubernetes/informer/parse-identity.ts';
import { createInformer, type InformerOptions } from '#kubernetes/informer/shared-informer.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { INJECT_LABEL, NAMESPACE_LABEL } from './api.ts';
import { certificateBlocks, type PemBlock } from './x509/pem.ts';

/** One entry of a webhook configuration. */
export interface WebhookView {
  readonly name: string;
  /** As on the wire; undefined stands for `Fail`. */
  readonly failurePolicy: string | undefined;
  /** The certificates in its `caBundle`, in order. */
  readonly bundle: readonly PemBlock[];
  /** Whether the `caBundle` holds anything besides these certificates. */
  readonly hasForeignText: boolean;
}

/** What is read of a ValidatingWebhookConfiguration or a MutatingWebhookConfiguration. */
export interface WebhookConfigurationView extends Cached {
  /** Whether it asks for our CA; its namespace label is the informer's selector. */
  readonly wantsCa: boolean;
  readonly webhooks: readonly WebhookView[];
  /** Who wrote a `caBundle` of it last, as the API server knows them: names of field managers. */
  readonly bundleManagers: readonly string[];
}

/** The kinds of webhook configurations. */
export type WebhookKind = 'validating' | 'mutating';

/** The resource type of each kind. */
export const webhookTypes: Readonly<Record<WebhookKind, ResourceType>> = Object.freeze({
  validating: resourceTypes.validatingWebhookConfigurations,
  mutating: resourceTypes.mutatingWebhookConfigurations,
});

/** What {@link createWebhookInformer} needs. */
export interface WebhookInformerOptions
  extends Pick<InformerOptions<WebhookConfigurationView>, 'client' | 'clock'> {
  /** The operator's; configurations of others are not even read. */
  readonly namespace: string;
  readonly kind: WebhookKind;
  readonly report: (problem: InformerProblem) => void;
}

/** Returns an informer of the configurations labelled with `namespace`, asking for our CA or not. */
export function createWebhookInformer(
  options: WebhookInformerOptions,
): Informer<WebhookConfigurationView> {
  const { client, clock, namespace, kind, report } = options;
  return createInformer({
    client,
    clock,
    type: webhookTypes[kind],
    labelSelector: `${NAMESPACE_LABEL}=${namespace}`,
    project: projectConfiguration,
    indexers: {},
    report,
  });
}

/** Returns what is read of `raw`. */
export function projectConfiguration(raw: KubernetesObject): WebhookConfigurationView {
  const { labels = {} } = raw.metadata;
  const webhooks = raw['webhooks'];
  return Object.freeze({
    ...parseIdentity(raw),
    wantsCa: labels[INJECT_LABEL] === 'true',
    webhooks: Object.freeze((Array.isArray(webhooks) ? webhooks : []).map(viewOf)),
    bundleManagers: Object.freeze(bundleManagersOf(raw)),
  });
}

function bundleManagersOf({ metadata }: KubernetesObject): readonly string[] {
  const managedFields = metadata['managedFields'];
  const entries = Array.isArray(managedFields) ? managedFields.filter(isJsonObject) : [];
  return entries.flatMap(({ manager, fieldsV1 }) =>
    typeof manager === 'string' && ownsBundle(fieldsV1) ? [manager] : [],
  );
}

/** Reports whether some entry of `webhooks` in a field set has the `caBundle`. */
function ownsBundle(fields: JsonValue | undefined): boolean {
  const webhooks = isJsonObject(fields) ? fields['f:webhooks'] : undefined;
  return Object.values(isJsonObject(webhooks) ? webhooks : {}).some((entry) => {
    const config = isJsonObject(entry) ? entry['f:clientConfig'] : undefined;
    return isJsonObject(config) && config['f:caBundle'] !== undefined;
  });
}

function viewOf(webhook: JsonValue): WebhookView {
  const entry: JsonObject = isJsonObject(webhook) ? webhook : {};
  const clientConfig = isJsonObject(entry['clientConfig']) ? entry['clientConfig'] : {};
  const { name, failurePolicy } = entry;
  const text = textOf(clientConfig['caBundle']);
  const bundle = certificateBlocks(text);
  return Object.freeze({
    name: typeof name === 'string' ? name : '',
    failurePolicy: typeof failurePolicy === 'string' ? failurePolicy : undefined,
    bundle: Object.freeze(bundle.map((block) => Object.freeze(block))),
    hasForeignText:
      text.trim() !==
      bundle
        .map(({ pem }) => pem)
        .join('')
        .trim(),
  });
}

function textOf(caBundle: JsonValue | undefined): string {
  return typeof caBundle === 'string' ? Buffer.from(caBundle, 'base64').toString('utf8') : '';
}
