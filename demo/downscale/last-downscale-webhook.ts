import type { Clock } from '#base/clock.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { EmbeddedCluster } from '#cluster/create-cluster.ts';
import { numberAt, objectAt, textAt } from '#cluster/json/read-json.ts';
import { LAST_DOWNSCALE } from '#statefulset/last-downscale.ts';

const host = 'last-downscale.demo.example';

/** Makes the API server ask the webhook of {@link registerLastDownscaleWebhook} about each change of a set. */
export const lastDownscaleConfiguration: JsonObject = Object.freeze({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingWebhookConfiguration',
  metadata: { name: 'last-downscale' },
  webhooks: [
    {
      name: host,
      clientConfig: { url: `https://${host}/note` },
      objectSelector: { matchExpressions: [{ key: 'rollout-group', operator: 'Exists' }] },
      rules: [
        {
          operations: ['UPDATE'],
          apiGroups: ['apps'],
          apiVersions: ['v1'],
          resources: ['statefulsets'],
        },
      ],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
});

/**
 * Notes on each set that shrinks when it did (IN-17), in the write that shrinks it: what the operator's own webhook is
 * for, played by the demo.
 */
export function registerLastDownscaleWebhook(
  webhooks: EmbeddedCluster['webhooks'],
  clock: Clock,
): void {
  webhooks.register(host, ({ body }) => {
    const review: unknown = JSON.parse(body);
    if (!isJsonObject(review)) throw new Error('the AdmissionReview is not an object');
    const { apiVersion, kind } = review;
    const request = objectAt(review, 'request');
    const response = { uid: textAt(request, 'uid'), allowed: true, ...noteOf(request, clock) };
    const answer = { apiVersion, kind, response };
    return Promise.resolve({ status: 200, body: JSON.stringify(answer) });
  });
}

function noteOf(request: JsonObject, clock: Clock): JsonObject {
  const from = numberAt(request, 'oldObject', 'spec', 'replicas') ?? 1;
  const to = numberAt(request, 'object', 'spec', 'replicas') ?? 1;
  if (to >= from) return {};
  const metadata = objectAt(request, 'object', 'metadata');
  const value = {
    ...objectAt(metadata, 'annotations'),
    [LAST_DOWNSCALE]: new Date(clock.now()).toISOString(),
  };
  const operations = [{ op: 'add', path: '/metadata/annotations', value }];
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
  return { patchType: 'JSONPatch', patch };
}
