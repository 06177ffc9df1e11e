/** What the tests of the deploy API share: a callback as the operator sends it, made of what is stored. */
import type { JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { numberAt, objectAt, textAt } from '#cluster/json/read-json.ts';
import {
  type CallbackReport,
  callbackBody,
  callbackSignature,
  idempotencyKey,
} from '#notification/callback/callback-body.ts';

/** Returns the body and the key of the callback about a stored StatefulsetRollout. */
export function callbackOf(
  object: JsonObject,
  result: CallbackReport['result'],
  now: Instant,
): { readonly stageId: string; readonly body: string; readonly key: string } {
  const stageId = textAt(object, 'spec', 'bapi', 'stageId');
  const uid = textAt(object, 'metadata', 'uid');
  const percent = numberAt(object, 'spec', 'percent') ?? 0;
  const status = objectAt(object, 'status');
  const unknown = undefined;
  const body = callbackBody({
    stageId,
    result,
    reasonCode: 'RolloutDone',
    reason: textAt(status, 'reason'),
    rolloutIdentity: textAt(object, 'spec', 'rolloutIdentity'),
    attempt: 1,
    percentRequested: percent,
    percentDeployed: percent,
    resource: {
      cluster: '',
      namespace: textAt(object, 'metadata', 'namespace'),
      name: textAt(object, 'metadata', 'name'),
      uid,
      generation: numberAt(object, 'metadata', 'generation') ?? 0,
    },
    statefulset: { name: 'kv-dev', targetRevision: unknown, version: unknown },
    replicas: {
      total: 2,
      target: 1,
      updated: 1,
      ready: 2,
      readyServiceDiscovery: unknown,
      leaked: 0,
    },
    buildMetadata: { branch: unknown, commitSha: unknown, origin: unknown, version: unknown },
    startedAt: now,
    finishedAt: now,
  });
  const rollout = textAt(status, 'rollout', 'key');
  return { stageId, body, key: idempotencyKey({ uid, key: rollout, stageId, result }) };
}

/** Returns the headers of a callback (E-3) that is signed at `now`. */
export function callbackHeaders(
  signingKey: string,
  { body, key }: { readonly body: string; readonly key: string },
  now: Instant,
): Record<string, string> {
  const timestamp = Math.floor(now / 1_000);
  return {
    'content-type': 'application/json',
    'idempotency-key': key,
    'x-bedrock-timestamp': String(timestamp),
    'x-bedrock-signature': callbackSignature(signingKey, { timestamp, body }),
  };
}
