import { webhookConfigurations } from '#admission/webhook-configuration/webhook-configurations.ts';
import type { JsonObject } from '#base/json.ts';
import type { Millis } from '#base/units.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';
import { createAll } from '../cluster/apply-manifests.ts';
import { demoNamespace } from '../cluster/demo-namespace.ts';
import type { DemoOperator } from './operators.ts';
import type { Stage } from './stage.ts';

/** Flags of an operator that serves its webhooks on a free port. */
export const webhookFlags: readonly string[] = ['-server-tls.enabled=true', '-server-tls.port=0'];

/** Leads the API server, which has no network of its own, to this process (D-31). */
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'rollout-operator', namespace: demoNamespace },
  spec: { type: 'ExternalName', externalName: 'localhost' },
};

/**
 * Has the API server ask the webhooks of `operator`, over HTTPS and with the CA that the operator publishes.
 *
 * @param until waits for what the API server stores
 */
export async function trustWebhooks(
  stage: Stage,
  operator: DemoOperator | undefined,
  until: (what: string, test: () => boolean) => Promise<Millis>,
): Promise<void> {
  const port = (await operator?.webhookPort) ?? 0;
  // This API server evaluates no conditions.
  const place = { namespace: demoNamespace, port, isConditional: false };
  const configurations = webhookConfigurations(place);
  /** Names of those that carry the CA. */
  const trusted = new Set<string>();
  stage.onCommit(({ resource, name, after }) => {
    if (resource.includes('webhookconfigurations') && isTrusted(after)) trusted.add(name);
  });
  await createAll(stage.client, [service, ...configurations]);
  await until('the API server trusts the webhooks', () => trusted.size === configurations.length);
}

/** Reports whether every entry of a webhook configuration has a CA bundle. */
function isTrusted(configuration: JsonObject | undefined): boolean {
  return objectsAt(configuration, 'webhooks').every(
    (webhook) => textAt(webhook, 'clientConfig', 'caBundle') !== '',
  );
}
