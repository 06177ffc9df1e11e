import { TransportError } from '#kubernetes/transport/transport.ts';

/**
 * Waits for `answer` as a transport does; what answers goes its way.
 * @throws {TransportError} `aborted` as soon as `signal` has aborted
 */
export async function unlessAborted<T>(
  answer: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(new TransportError('the call was aborted', 'aborted'));
  if (signal?.aborted === true) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([aborted.promise, answer]);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
