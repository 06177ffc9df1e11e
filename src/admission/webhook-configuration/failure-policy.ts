import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { NAMESPACE_LABEL } from '#certificate/api.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Cached, Informer } from '#kubernetes/informer/informer.ts';
import { parseIdentity } from '#kubernetes/informer/parse-identity.ts';
import { createInformer } from '#kubernetes/informer/shared-informer.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { arrayAt, objectsIn, stringAt } from '#statefulset/parse-fields.ts';
import type { GaugeMetric, MetricsRegistry } from '#telemetry/metrics.ts';

/** What {@link collectFailurePolicies} works with. */
export interface FailurePolicyOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricsRegistry;
  /** The namespace that the label {@link NAMESPACE_LABEL} of our configurations names. */
  readonly namespace: string;
}

type Policy = 'Fail' | 'Ignore';
type PolicyGauge = GaugeMetric<'type' | 'webhook' | 'policy'>;

/** A webhook configuration, as far as the gauge reads it. */
interface ConfigurationView extends Cached {
  readonly webhooks: readonly { readonly name: string; readonly policy: Policy }[];
}

const watched = [
  { label: 'ValidatingWebhook', type: resourceTypes.validatingWebhookConfigurations },
  { label: 'MutatingWebhook', type: resourceTypes.mutatingWebhookConfigurations },
] as const;

/** Declares the gauge of failure policies in `registry`; it has no series until a configuration is seen. */
export function declareFailurePolicies(registry: MetricsRegistry): PolicyGauge {
  return registry.gauge({
    name: 'kube_validating_webhook_failure_policy',
    help: 'Failure policy of a webhook: 1 for the one in force, 0 for the other.',
    labels: ['type', 'webhook', 'policy'],
  });
}

/**
 * Shows the failure policies of our webhook configurations as a gauge, until `signal` aborts. A webhook
 * that goes takes its series with it.
 */
export async function collectFailurePolicies(
  options: FailurePolicyOptions,
  signal: AbortSignal,
): Promise<void> {
  const gauge = declareFailurePolicies(options.registry);
  await Promise.all(
    watched.map(async ({ label, type }) => {
      const informer = createInformer({
        ...options,
        type,
        labelSelector: `${NAMESPACE_LABEL}=${options.namespace}`,
        project: parseConfiguration,
        indexers: {},
        report: ({ reason, message }) =>
          options.log.warn('informer', { resource: type.plural, reason, message }),
      });
      const shown = new ShownPolicies(gauge, label);
      informer.onChange(() => shown.show(policiesOf(informer)));
      await informer.run(signal);
    }),
  );
}

function parseConfiguration(raw: KubernetesObject): ConfigurationView {
  const webhooks = objectsIn(arrayAt(raw, 'webhooks')).map((webhook) =>
    Object.freeze({
      name: stringAt(webhook, 'name') ?? '',
      policy: webhook['failurePolicy'] === 'Ignore' ? ('Ignore' as const) : ('Fail' as const),
    }),
  );
  return Object.freeze({ ...parseIdentity(raw), webhooks: Object.freeze(webhooks) });
}

/** Returns the policies by name; of equal names the weaker policy counts, as alarms look for it. */
function policiesOf({ lister }: Informer<ConfigurationView>): ReadonlyMap<string, Policy> {
  const policies = new Map<string, Policy>();
  for (const { webhooks } of lister.list()) {
    for (const { name, policy } of webhooks) {
      if (policies.get(name) !== 'Ignore') policies.set(name, policy);
    }
  }
  return policies;
}

class ShownPolicies {
  readonly #gauge: PolicyGauge;
  readonly #type: string;
  #shown: ReadonlyMap<string, Policy> = new Map();

  constructor(gauge: PolicyGauge, type: string) {
    this.#gauge = gauge;
    this.#type = type;
  }

  show(policies: ReadonlyMap<string, Policy>): void {
    for (const webhook of this.#shown.keys()) {
      if (!policies.has(webhook)) this.#forget(webhook);
    }
    for (const [webhook, inForce] of policies) {
      for (const policy of ['Fail', 'Ignore'] as const) {
        this.#gauge.set({ type: this.#type, webhook, policy }, policy === inForce ? 1 : 0);
      }
    }
    this.#shown = policies;
  }

  #forget(webhook: string): void {
    for (const policy of ['Fail', 'Ignore'] as const) {
      this.#gauge.remove({ type: this.#type, webhook, policy });
    }
  }
}
