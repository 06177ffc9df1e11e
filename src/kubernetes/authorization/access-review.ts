import { errorOf } from '#base/error-of.ts';
import { isJsonObject, type JsonValue } from '#base/json.ts';
import type { CallOptions, Client } from '../client.ts';
import type { ResourceType } from '../resource-type.ts';
import { isForbidden, isNotFound } from '../transport/api-error.ts';

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
  client: Pick<Client, 'raw'>,
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

/** What {@link canList} asks about. */
export interface Listing {
  readonly type: ResourceType;
  /** Empty: in all namespaces. */
  readonly namespace: string;
}

/**
 * Asks whether we may list a type; where reviews of our access are refused or fail, by a list of one object.
 *
 * @throws never, as {@link canI}
 */
export async function canList(
  client: Client,
  { type, namespace }: Listing,
  options?: CallOptions,
): Promise<AccessAnswer> {
  const { group, plural: resource } = type;
  const where = namespace === '' ? {} : { namespace };
  const answer = await canI(client, { verb: 'list', group, resource, ...where }, options);
  if (answer.kind !== 'unknown') return answer;
  try {
    await client.list(type, { ...where, limit: 1 }, options);
    return { kind: 'allowed' };
  } catch (error) {
    if (isForbidden(error)) return { kind: 'denied', reason: error.message };
    return isNotFound(error) ? { kind: 'allowed' } : answer;
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
