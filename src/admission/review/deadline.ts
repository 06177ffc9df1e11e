import type { Clock } from '#base/clock.ts';
import { parseGoDuration } from '#base/time/go-duration.ts';
import { type Millis, type Monotonic, millis } from '#base/units.ts';

/** The one deadline of a review; all that it calls inherits it. */
export interface Deadline {
  /** Aborts when the time is over, or no caller waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Time that is left, not below 0. */
  readonly remaining: () => Millis;
}

/** A deadline with the timer behind it. */
export interface RunningDeadline extends Deadline {
  /** Nothing waits any more. */
  readonly abort: (reason: string) => void;
  /** The answer is out: lets go of the timer. */
  readonly release: () => void;
}

/** Starts a deadline that ends `span` after `begun`. */
export function startDeadline(clock: Clock, begun: Monotonic, span: Millis): RunningDeadline {
  const controller = new AbortController();
  const remaining = (): Millis => millis(Math.max(0, begun + span - clock.monotonic()));
  const expire = (): void =>
    controller.abort(new Error(`the review's deadline of ${Math.round(span)} ms has passed`));
  const timer = clock.timer(remaining(), expire, { owner: 'review deadline', background: true });
  return {
    signal: controller.signal,
    remaining,
    abort: (reason) => {
      timer.cancel();
      controller.abort(new Error(reason));
    },
    release: () => timer.cancel(),
  };
}

/** Returns a deadline `reserve` before `deadline`, so that time is left to clean up. Release it when it is not needed. */
export function earlierBy(
  reserve: Millis,
  deadline: Deadline,
  clock: Clock,
): Deadline & { readonly release: () => void } {
  const span = millis(Math.max(0, deadline.remaining() - reserve));
  const early = startDeadline(clock, clock.monotonic(), span);
  const signal = AbortSignal.any([early.signal, deadline.signal]);
  return { signal, remaining: early.remaining, release: early.release };
}

/** Returns signal and timeout of a call under `deadline`. */
export function callOf({ signal, remaining }: Deadline): {
  readonly signal: AbortSignal;
  readonly timeout: Millis;
} {
  return { signal, timeout: remaining() };
}

/** What bounds the time of a review. */
export interface DeadlineBounds {
  /** `-server-tls.request-timeout`. */
  readonly requestTimeout: Millis;
  /** The webhook's own bound. */
  readonly patience: number | undefined;
  /** The query of the request, with or without `?`. */
  readonly query: string;
}

/**
 * Returns how long a review may take (D-27): 90 % of the server's own timeout, half of the time that the API server says it
 * waits, and what the webhook itself allows, whichever is shortest.
 */
export function spanOf({ requestTimeout, patience, query }: DeadlineBounds): Millis {
  let span = (requestTimeout * 9) / 10;
  if (patience !== undefined) span = Math.min(span, patience);
  const asked = query === '' ? undefined : askedTimeout(query);
  return millis(asked === undefined ? span : Math.min(span, asked / 2));
}

/** Returns `?timeout=10s`, as the API server appends it; undefined when there is none that can be read. */
function askedTimeout(query: string): Millis | undefined {
  const text = new URLSearchParams(query).get('timeout');
  const parsed = text === null ? undefined : parseGoDuration(text, 'timeout');
  return parsed?.kind === 'valid' && parsed.value > 0 ? parsed.value : undefined;
}
