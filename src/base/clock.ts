import type { Instant, Millis, Monotonic } from './units.ts';

/** A pending call of a {@link Clock}; cancelling it twice, or after it fired, does nothing. */
export interface Timer {
  cancel(): void;
}

/** Who set a timer, and whether a system that waits only for it counts as idle. */
export interface TimerOptions {
  /** Names the timer in the report of a hot loop. */
  readonly owner?: string;
  /** Lease renewals, resyncs, bookmarks, watch timeouts: they keep no virtual run alive. @default false */
  readonly background?: boolean;
}

/** Options of {@link Clock.sleep}. */
export interface SleepOptions extends TimerOptions {
  /** Ends the sleep early; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * All that the program knows of time (SIM-1). The shell owns one; the core receives `now` as a value.
 *
 * Adapters: the system clock (`telemetry/`), the virtual clock (`cluster/`).
 */
export interface Clock {
  /** Returns the wall-clock time; it may step. */
  now(): Instant;
  /** Returns a time that never steps, the only one fit for ages and deadlines. */
  monotonic(): Monotonic;
  /**
   * Calls `fire` once, `delay` from now. Delays beyond 2^31 ms are honoured, negative ones count as 0.
   * A timer keeps the process alive unless it is a background timer.
   */
  timer(delay: Millis, fire: () => void, options?: TimerOptions): Timer;
  /** Resolves `delay` from now. @throws the reason of `options.signal` when that aborts first */
  sleep(delay: Millis, options?: SleepOptions): Promise<void>;
  /** Lets all other work of the event loop that is ready run first. */
  yield(): Promise<void>;
}
