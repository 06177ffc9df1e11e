/**
 * The words that every room shares: here instants, spans and counts, as types that cannot be taken for one another. The
 * room knows nothing of Kubernetes, reads no clock and does no I/O.
 */
import type { Brand } from './brand.ts';

/** A span of time in milliseconds; may be negative or fractional. */
export type Millis = Brand<number, 'Millis'>;

/** A point of wall-clock time: milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = Brand<number, 'Instant'>;

/** A point on a clock that never steps: milliseconds since an arbitrary start of this process. */
export type Monotonic = Brand<number, 'Monotonic'>;

/** Returns `value` milliseconds. */
export function millis(value: number): Millis {
  return value as Millis;
}

/** Returns `value` seconds, in milliseconds. */
export function seconds(value: number): Millis {
  return millis(value * 1_000);
}

/** Returns `value` minutes, in milliseconds. */
export function minutes(value: number): Millis {
  return millis(value * 60_000);
}

/** Returns the instant `value` milliseconds after 1970-01-01T00:00:00Z. */
export function instant(value: number): Instant {
  return value as Instant;
}

/** Returns the monotonic reading `value`. */
export function monotonic(value: number): Monotonic {
  return value as Monotonic;
}

/** Returns `start` moved by `span`; a negative span moves back. */
export function after(start: Instant, span: Millis): Instant {
  return instant(start + span);
}
