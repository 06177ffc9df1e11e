import { bytes, fields, int, kept, list, listBy, text } from './field-schema.ts';
import { kindOf, labelSelector } from './metadata.ts';

const texts = list(kept(text));

const webhook = {
  name: kept(text),
  clientConfig: fields({
    url: kept(text),
    service: fields({
      namespace: kept(text),
      name: kept(text),
      path: kept(text),
      port: kept(int),
    }),
    caBundle: bytes,
  }),
  rules: list(
    fields({
      operations: texts,
      apiGroups: texts,
      apiVersions: texts,
      resources: texts,
      scope: kept(text),
    }),
  ),
  failurePolicy: kept(text),
  matchPolicy: kept(text),
  namespaceSelector: labelSelector,
  objectSelector: labelSelector,
  sideEffects: kept(text),
  timeoutSeconds: kept(int),
  admissionReviewVersions: kept(texts),
  matchConditions: listBy('name', fields({ name: kept(text), expression: kept(text) })),
};

/** ValidatingWebhookConfiguration. */
export const validatingWebhookConfiguration = kindOf({ webhooks: listBy('name', fields(webhook)) });

/** MutatingWebhookConfiguration. */
export const mutatingWebhookConfiguration = kindOf({
  webhooks: listBy('name', fields({ ...webhook, reinvocationPolicy: kept(text) })),
});
