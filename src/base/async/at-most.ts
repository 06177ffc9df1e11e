import type { Clock } from '../clock.ts';
import type { Millis } from '../units.ts';

/** Waits for `promise`, but no longer than `patience`, and not beyond an abort. */
export async function atMost(
  patience: Millis,
  promise: Promise<void>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const done = new AbortController();
  const waited = clock
    .sleep(patience, { signal: AbortSignal.any([signal, done.signal]) })
    .catch(() => undefined);
  await Promise.race([promise, waited]);
  done.abort();
}
