import { errorOf } from '#base/error-of.ts';
import { hasLostSwap } from '#kubernetes/shared-config-map.ts';
import { ApiError, isForbidden } from '#kubernetes/transport/api-error.ts';
import type { ReasonedRefusal } from './review.ts';

/**
 * Denies because a request of ours failed (D-25): 429, as it may succeed later, or 403 where our Role does not permit
 * it, with the failure as its cause. Most callers show the message alone, so it says where the Role is why.
 */
export function denyForFailure(message: string, error: unknown): ReasonedRefusal {
  const cause = errorOf(error).message;
  const isRefused = isForbidden(error);
  return {
    isAllowed: false,
    message: `${message.replace(/\.$/, '')}${roleText(error, message)}`,
    code: isRefused ? 403 : 429,
    doubt: isRefused ? 'Forbidden' : 'DependencyFailed',
    causes: [{ reason: isRefused ? 'Forbidden' : 'DependencyFailed', message: cause }],
  };
}

/** How the API server says that no Role permits a request; a quota or a namespace that ends are 403 in other words. */
const unpermitted =
  / cannot (?<verb>\w+) resource "(?<resource>[^"]+)" in API group "[^"]*" in the namespace "(?<namespace>[^"]+)"/;

/** Returns which permission is missing, as the end of `message`; where none is, its own end. */
function roleText(error: unknown, message: string): string {
  const found = isForbidden(error) ? unpermitted.exec(error.message)?.groups : undefined;
  if (found === undefined) return message.endsWith('.') ? '.' : '';
  const { verb = '', resource = '', namespace = '' } = found;
  const missing = `no Role permits the operator to ${verb} ${resource} in the namespace "${namespace}"`;
  return `: ${missing}, so bind one there, or have the webhook leave that namespace out`;
}

/** Returns what kind of failure `error` is, of which there are few: for logs that report each once in a while. */
export function failureKind(error: unknown): string {
  const { name } = errorOf(error);
  return error instanceof ApiError ? `${name} ${error.status}` : name;
}

/** Denies because too much is under way (D-30). */
export function overloadText(target: string): string {
  return `${target} is not allowed because too many admission reviews are under way, try again`;
}

/** A compare-and-swap in this process has lost. */
export class MovedError extends Error {
  override readonly name = 'MovedError';
}

/** Reports whether a compare-and-swap has lost against another client's, and may be tried on what is there now. */
export function hasMoved(error: unknown): boolean {
  return error instanceof MovedError || hasLostSwap(error);
}
