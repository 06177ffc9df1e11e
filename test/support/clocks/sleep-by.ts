import type { Clock, SleepOptions } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Millis } from '#base/units.ts';

/** Sleeps as a `Clock` does, by a timer of `clock`. @throws the reason of the signal in `options` when that aborts first */
export async function sleepBy(
  clock: Pick<Clock, 'timer'>,
  delay: Millis,
  options: SleepOptions = {},
): Promise<void> {
  const { signal, ...rest } = options;
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = clock.timer(delay, resolve, rest);
  const abort = (): void => {
    timer.cancel();
    reject(errorOf(signal?.reason));
  };
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await promise;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
