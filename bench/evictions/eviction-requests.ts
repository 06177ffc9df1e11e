/** Evictions as they are posted: to the API server, or by it to the webhook; and what is answered. */
import { isJsonObject, type JsonObject, jsonIn } from '#base/json.ts';
import { numberAt, objectAt, objectsAt, textAt, textsAt } from '#cluster/json/read-json.ts';
import { reviewDocument } from '#support/admission/admission-requests.ts';
import { type PostAnswer, postBytes, reviewBytes } from '../admission/post-connection.ts';
import type { Access } from '../cluster/cluster-commands.ts';
import { namespace } from '../cluster/workload.ts';

/** How long the API server waits for an answer, in s: what the shipped configuration says. */
export const reviewTimeout = 10;

/** The answer of the webhook to an eviction. */
export interface EvictionReply {
  /** `unjudged`: the pod serves no client; `none`: what came is no answer to a review. */
  readonly kind: 'allowed' | 'unjudged' | 'denied' | 'none';
  /** 200 where it is allowed, 0 where nothing was answered. */
  readonly code: number;
  /** Why not, in a word for programs; empty where there is none. */
  readonly reason: string;
  readonly message: string;
}

function eviction(name: string): JsonObject {
  return { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
}

/**
 * The review of the eviction of pod `name`.
 *
 * @param isDryRun whether nothing is to be stored for it
 * @param path where it is posted
 */
export function evictionReview(
  name: string,
  isDryRun = false,
  path = '/admission/pod-eviction',
): Buffer {
  const document = reviewDocument({
    uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
    name,
    namespace,
    kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    subResource: 'eviction',
    operation: 'CREATE',
    object: eviction(name),
    oldObject: null,
    dryRun: isDryRun,
  });
  return reviewBytes(`${path}?timeout=${reviewTimeout}s`, JSON.stringify(document));
}

/** The request of an administrator to evict pod `name`. */
export function evictionPost({ adminToken }: Access, name: string): Buffer {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
  const headers = { authorization: `Bearer ${adminToken}`, accept: 'application/json' };
  return postBytes(path, JSON.stringify(eviction(name)), headers);
}

/** Returns what the webhook said. */
export function replyOf({ status, body }: PostAnswer): EvictionReply {
  const document = jsonIn(body);
  const response = isJsonObject(document) ? objectAt(document, 'response') : {};
  if (status !== 200 || typeof response['allowed'] !== 'boolean') {
    return { kind: 'none', code: 0, reason: `HTTP ${status}`, message: body };
  }
  const isAllowed = response['allowed'];
  const isUnjudged = textsAt(response, 'warnings').length > 0;
  const [cause] = objectsAt(response, 'status', 'details', 'causes');
  return {
    kind: isAllowed ? (isUnjudged ? 'unjudged' : 'allowed') : 'denied',
    code: isAllowed ? 200 : (numberAt(response, 'status', 'code') ?? 0),
    reason: textAt(cause, 'reason'),
    message: textAt(response, 'status', 'message'),
  };
}
