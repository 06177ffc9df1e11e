import { assertNever } from '#base/assert-never.ts';
import { errorOf } from '#base/error-of.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { type Instant, type Millis, millis, seconds } from '#base/units.ts';
import { TransportError } from './transport.ts';

/** What a call was about, for messages and for the choice of what to do next. */
export interface Call {
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'replace' | 'patch' | 'delete' | 'post';
  /** The kind, or the path of a raw call. */
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** Of a `create`: what of the object it was sent to; such a request creates no object. */
  readonly subresource?: string | undefined;
}

/** When the same intent may be tried again: at once from fresh state, after a backoff, or not before it changes. */
export type Retry = 'immediate' | 'backoff' | 'never';

/** What an {@link ApiError} is made of. */
export interface ApiRefusal {
  readonly status: number;
  /** `Status.reason`, such as `NotFound`; empty where the server gave none. */
  readonly reason: string;
  readonly message: string;
  readonly details: JsonObject;
  readonly retryAfter?: Millis | undefined;
}

/** An answer of the API server that is not 2xx. `retry` instructs the work queue what to do with the key. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError';
  readonly call: Call;
  /** The HTTP status code. */
  readonly status: number;
  readonly reason: string;
  readonly details: JsonObject;
  readonly retry: Retry;
  /** How long the server asks to wait. */
  readonly retryAfter: Millis | undefined;
  /** Whether admission refused the call: whatever the status, nothing was stored. */
  readonly isAdmissionRefusal: boolean;

  constructor(call: Call, refusal: ApiRefusal, options?: ErrorOptions) {
    const code = `${refusal.status} ${refusal.reason}`.trim();
    super(`Cannot ${describeCall(call)}: ${refusal.message} (${code})`, options);
    this.call = call;
    this.status = refusal.status;
    this.reason = refusal.reason;
    this.details = refusal.details;
    this.retry = isUnmetUid(refusal) ? 'immediate' : retryOf(refusal.status);
    this.retryAfter = refusal.retryAfter;
    this.isAdmissionRefusal = admissionRefusal.test(refusal.message);
  }
}

/** A 2xx answer that is not what the API promises: cut off, empty, not JSON, without metadata. Tried again after a backoff. */
export class MalformedAnswerError extends ApiError {
  override readonly name = 'MalformedAnswerError';
  /** What was seen instead. */
  readonly seen: string;

  constructor(call: Call, status: number, seen: string) {
    super(call, {
      status,
      reason: 'MalformedAnswer',
      message: `the answer should be JSON with metadata, but ${seen}`,
      details: {},
    });
    this.seen = seen;
  }

  /** A malformed answer to a write may well have had its effect. */
  override readonly retry = 'backoff';
}

/** Returns the call as words, such as `delete Pod "demo/ingester-0"`. */
function describeCall(call: Call): string {
  const { kind, namespace, name } = call;
  const verb = verbOf(call);
  if (name !== undefined) {
    return `${verb} ${kind} "${namespace === undefined ? name : `${namespace}/${name}`}"`;
  }
  return namespace === undefined
    ? `${verb} ${kind}`
    : `${verb} ${kind} in namespace "${namespace}"`;
}

/** Returns the verb as people know it: an eviction and a binding are posted, and create nothing. */
function verbOf({ verb, subresource }: Call): string {
  if (verb !== 'create' || subresource === undefined) return verb;
  return subresource === 'eviction' ? 'evict' : `create the ${subresource} of`;
}

/**
 * How an API server words that a webhook could not be asked, or denied; the webhook chooses the status of its denial. Webhooks are
 * asked before a write is stored. Seen on a real API server for deletions, evictions and patches, by both kinds of webhooks. No other
 * 5xx says by its text that nothing was stored: of a timeout of the request, or of etcd, the write may have had its effect.
 */
const admissionRefusal =
  /^(?:Internal error occurred: failed calling webhook ".+?": |admission webhook ".+?" denied the request)/;

// 400, 404, 409 … are answered alike by every healthy server; 401 and 403 pass when tokens and roles catch up.
const neverHelped: ReadonlySet<number> = new Set([400, 405, 406, 411, 413, 414, 415, 422]);

function retryOf(status: number): Retry {
  if (status === 409 || status === 410) return 'immediate';
  return neverHelped.has(status) ? 'never' : 'backoff';
}

/** Reports whether `error` is an answer that the object, or its namespace or resource, does not exist. */
export function isNotFound(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 404;
}

/** Returns undefined where `error` says that an object does not exist; for what catches a read. @throws any other `error` */
export function undefinedIfAbsent(error: unknown): undefined {
  if (isNotFound(error)) return undefined;
  throw error;
}

/**
 * A patch that names the uid of another incarnation is answered 422, not 409 as a PUT or a DELETE: to the server
 * it tries to change an immutable field.
 */
function isUnmetUid({ status, details }: Pick<ApiRefusal, 'status' | 'details'>): boolean {
  const { causes } = details;
  if (status !== 422 || !Array.isArray(causes)) return false;
  return causes.some((cause) => isJsonObject(cause) && cause['field'] === 'metadata.uid');
}

/** Reports whether `error` is the answer for a stale resourceVersion or an unmet precondition: the world has moved. */
export function isConflict(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  return (error.status === 409 && error.reason !== 'AlreadyExists') || isUnmetUid(error);
}

/** Reports whether `error` is a 409 for a name that is taken. */
export function isAlreadyExists(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 409 && error.reason === 'AlreadyExists';
}

/** Reports whether `error` says that the revision or the continue token has expired: list again. */
export function isGone(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 410;
}

/** Reports whether `error` says that our Role does not permit the call. */
export function isForbidden(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 403;
}

/** Reports whether `error` says that our credentials were not accepted. */
export function isUnauthorized(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 401;
}

/** Reports whether `error` is a 429: the server is throttling us, or an eviction would exceed a budget. */
export function isTooManyRequests(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 429;
}

/** Reports whether `error` says that what we sent is not valid (400, 422): the same again gets the same answer. */
export function isInvalid(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 400 || error.status === 422);
}

/**
 * Reports whether the server may have carried the call out although the caller got an error: no answer after sending, an
 * answer that cannot be read, or a 5xx (reliability rule 7) that admission did not give. The intent stays until there is evidence.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  if (error instanceof TransportError) return error.failure !== 'not-sent';
  if (error instanceof MalformedAnswerError) return true;
  return error instanceof ApiError && error.status >= 500 && !error.isAdmissionRefusal;
}

/** Reports whether `error` is how a request ended, by an answer or without one, and no fault of this program. */
export function isRequestFailure(error: unknown): error is ApiError | TransportError {
  return error instanceof ApiError || error instanceof TransportError;
}

/** What to do with a key whose reconcile threw. */
export type ErrorPolicy =
  /** The object is gone as was wanted. */
  | { readonly kind: 'done' }
  /** The world moved: observe and plan again at once. */
  | { readonly kind: 'plan-again' }
  /** Try again later, `retryAfter` from now at the earliest. */
  | { readonly kind: 'backoff'; readonly retryAfter?: Millis }
  /** The same input gets the same answer: say so in a condition and wait for a new generation. */
  | { readonly kind: 'await-change'; readonly message: string }
  /** A fault of this program: log with stack, count, back off. */
  | { readonly kind: 'bug'; readonly error: Error };

/** Returns what to do with the key after `error`: the one table that the work queue follows. */
export function errorPolicy(error: unknown): ErrorPolicy {
  if (error instanceof TransportError) return { kind: 'backoff' };
  if (!(error instanceof ApiError)) {
    return { kind: 'bug', error: errorOf(error) };
  }
  if (error.call.verb === 'delete' && error.status === 404) return { kind: 'done' };
  switch (error.retry) {
    case 'immediate':
      return { kind: 'plan-again' };
    case 'never':
      return { kind: 'await-change', message: error.message };
    case 'backoff':
      return error.retryAfter === undefined
        ? { kind: 'backoff' }
        : { kind: 'backoff', retryAfter: error.retryAfter };
    default:
      return assertNever(error.retry);
  }
}

/**
 * Returns how long a `Retry-After` header asks to wait from `now`: whole seconds or an HTTP date, never negative.
 *
 * @returns undefined when there is no header, or it is neither
 */
export function parseRetryAfter(header: string | undefined, now: Instant): Millis | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return seconds(Number(header));
  const date = /[A-Za-z]/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? undefined : millis(Math.max(0, date - now));
}
