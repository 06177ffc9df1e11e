import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import { backoffAfter } from '#base/time/backoff.ts';
import { millis } from '#base/units.ts';
import type { Deadline } from '../review/deadline.ts';
import { hasMoved } from '../review/dependency.ts';

/** Tries that follow one another at once; later ones wait (QUIE-2). */
const atOnce = 5;
const pauses = { first: millis(10), longest: millis(160) };

/**
 * Does `work`, which reads something and writes it back as it was changed, until its write loses against no other client's.
 *
 * @throws what `work` throws besides; its last refusal, when the deadline is over before the next try
 */
export async function untilSwapped<T>(
  work: () => Promise<T>,
  clock: Clock,
  { signal }: Deadline,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    let lost: unknown;
    try {
      return await work();
    } catch (error) {
      if (!hasMoved(error)) throw error;
      lost = error;
    }
    if (attempt < atOnce) continue;
    const options = { signal, owner: 'compare-and-swap' };
    await clock
      .sleep(backoffAfter(attempt - atOnce, pauses), options)
      .catch(() => Promise.reject(errorOf(lost)));
  }
}
