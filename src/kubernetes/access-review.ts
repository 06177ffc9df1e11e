import { errorOf } from '#base/error-of.ts';
import { isJsonObject, type JsonValue } from '#base/json.ts';
import type { CallOptions, Client } from './client.ts';

/** One thing that our Role may or may not permit. */
export interface Access {
  readonly verb: string;
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** Absent: in all namespaces, or cluster-scoped. */
  readonly namespace?: string;
  /** Absent: whatever the object is called. */
  readonly name?: string;
}

/** Whether we may; `unknown` when the server could not say, which is no reason to stop trying. */
export type AccessAnswer =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'denied'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string };

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/**
 * Asks the API server once whether we may do `access` (D-1).
 *
 * @throws never: a review that fails, or whose answer makes no sense, is `unknown` with the reason
 */
export async function canI(
  client: Client,
  access: Access,
  options?: CallOptions,
): Promise<AccessAnswer> {
  const { verb, group, resource, subresource, namespace, name } = access;
  const resourceAttributes = { verb, group, resource, subresource, namespace, name };
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  };
  try {
    return answerOf(await client.raw({ method: 'POST', path: REVIEWS, body }, options));
  } catch (error) {
    return { kind: 'unknown', reason: errorOf(error).message };
  }
}

function answerOf(review: JsonValue): AccessAnswer {
  const status = isJsonObject(review) ? review['status'] : undefined;
  if (!isJsonObject(status) || typeof status['allowed'] !== 'boolean') {
    return { kind: 'unknown', reason: 'the review was answered without status.allowed' };
  }
  if (status['allowed']) return { kind: 'allowed' };
  const { evaluationError, reason } = status;
  // The authorisers could not all be asked: the denial is no proof.
  if (typeof evaluationError === 'string' && evaluationError !== '') {
    return { kind: 'unknown', reason: evaluationError };
  }
  const why = typeof reason === 'string' && reason !== '' ? reason : 'no rule allows it';
  return { kind: 'denied', reason: why };
}
