import type { JsonObject } from '#base/json.ts';
import { emptyObject, mapListAt, mapObjectAt, withMissing } from '../../json/members.ts';

const validating: JsonObject = Object.freeze({
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: emptyObject,
  objectSelector: emptyObject,
  timeoutSeconds: 10,
});
const mutating: JsonObject = Object.freeze({ ...validating, reinvocationPolicy: 'Never' });
const rule: JsonObject = Object.freeze({ scope: '*' });
const service: JsonObject = Object.freeze({ port: 443 });

function withDefaults(configuration: JsonObject, defaults: JsonObject): JsonObject {
  return mapListAt(configuration, 'webhooks', (webhook) => {
    const complete = withMissing(webhook, defaults);
    const ruled = mapListAt(complete, 'rules', (given) => withMissing(given, rule));
    return mapObjectAt(ruled, 'clientConfig', (config) =>
      mapObjectAt(config, 'service', (given) => withMissing(given, service)),
    );
  });
}

/** Returns `configuration` with the defaults of a ValidatingWebhookConfiguration. */
export function defaultValidatingWebhooks(configuration: JsonObject): JsonObject {
  return withDefaults(configuration, validating);
}

/** Returns `configuration` with the defaults of a MutatingWebhookConfiguration. */
export function defaultMutatingWebhooks(configuration: JsonObject): JsonObject {
  return withDefaults(configuration, mutating);
}
