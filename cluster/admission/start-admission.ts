import type { ServerContext } from '../rest/request/server-context.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { type Webhook, webhooksOf } from './webhook.ts';
import { WebhookAdmission } from './webhook-admission.ts';
import { WebhookCaller } from './webhook-caller.ts';
import type { WebhookDialer } from './webhook-dialer.ts';
import type { WebhookHosts } from './webhook-hosts.ts';

const MUTATING = 'mutatingwebhookconfigurations.admissionregistration.k8s.io';
const VALIDATING = 'validatingwebhookconfigurations.admissionregistration.k8s.io';

/** Lets the server of `context` ask the webhooks of its configurations; a change holds from the next request on (AD-12). */
export function startAdmission(
  context: ServerContext,
  ways: { readonly hosts: WebhookHosts; readonly dialer: WebhookDialer },
  uids: SeededRandom,
): void {
  const chain = new WebhookAdmission(context, new WebhookCaller(context, ways), uids);
  const stored = (resource: string): readonly Webhook[] =>
    webhooksOf(
      context.store
        .collection(resource)
        .list()
        .map(({ object }) => object),
    );
  const configure = (): void => {
    const webhooks = { mutating: stored(MUTATING), validating: stored(VALIDATING) };
    chain.configure(webhooks);
    const isIdle = webhooks.mutating.length + webhooks.validating.length === 0;
    // Without webhooks a write takes no turn of the event loop for them.
    Object.assign(context, { admission: isIdle ? undefined : chain });
  };
  for (const resource of [MUTATING, VALIDATING]) {
    context.store.collection(resource).onChange(configure);
  }
}
