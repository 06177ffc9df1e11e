import type { CallOptions } from '#kubernetes/client.ts';
import { TransportError } from '#kubernetes/transport/transport.ts';

/**
 * Returns the options of a request that follows `signal` until it is sent: what has left may take effect, so that a
 * process which ends, or loses its Lease, still wants to know the answer (D-50). Each call ends by its own deadline.
 *
 * @param beforeSend called last before the request leaves; what it throws keeps the request here
 */
export function unlessSent(
  signal: AbortSignal,
  beforeSend?: () => void,
): Required<Pick<CallOptions, 'signal' | 'beforeSend'>> {
  const waiting = new AbortController();
  const abort = (): void => waiting.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return {
    signal: waiting.signal,
    beforeSend: () => {
      if (signal.aborted) throw givenUp(signal);
      try {
        beforeSend?.();
      } finally {
        signal.removeEventListener('abort', abort);
      }
    },
  };
}

/** Returns what {@link isGivenUp} knows: a request is asked again where it is sent once more, as after a 401. */
function givenUp(signal: AbortSignal): TransportError {
  return new TransportError('the call was aborted, it was not sent', 'not-sent', {
    cause: signal.reason,
  });
}

/** Reports whether `error` is that of a request which `signal` broke off, or kept from being sent. */
export function isGivenUp(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted || !(error instanceof TransportError)) return false;
  return error.failure === 'aborted' || error.failure === 'not-sent';
}
