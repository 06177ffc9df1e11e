import { TransportError } from '#kubernetes/transport.ts';

/** A signal that gives a request up while it waits, and leaves it alone once it was sent. */
export interface UnlessSent {
  readonly signal: AbortSignal;
  /** The request is handed to the connection now: from here on its answer is awaited. */
  sent(): void;
}

/**
 * Follows `signal` until the request is sent: what has left may take effect, so that a process which ends, or loses its
 * Lease, still wants to know the answer (D-50). Each call ends by its own deadline.
 */
export function unlessSent(signal: AbortSignal): UnlessSent {
  const waiting = new AbortController();
  const abort = (): void => waiting.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return { signal: waiting.signal, sent: () => signal.removeEventListener('abort', abort) };
}

/** Whether `error` is that of a request which `signal` broke off, or kept from being sent. */
export function isGivenUp(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted || !(error instanceof TransportError)) return false;
  return error.failure === 'aborted' || error.failure === 'not-sent';
}
