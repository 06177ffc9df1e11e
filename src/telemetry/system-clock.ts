import type { Clock, SleepOptions, Timer, TimerOptions } from '#base/clock.ts';
import type { Millis } from '#base/units.ts';
import { instant, monotonic } from '#base/units.ts';

/** What a {@link Clock} needs of the machine. */
export interface ClockHost {
  /** Returns milliseconds since 1970. */
  now(): number;
  /** Returns milliseconds on a clock that never steps. */
  monotonic(): number;
  /** Calls `fire` after `delay`, which is at most {@link longestTimeout}. */
  setTimeout(fire: () => void, delay: number): HostTimeout;
  setImmediate(fire: () => void): void;
}

/** A pending timeout of the machine. */
export interface HostTimeout {
  /** Lets the process end although the timeout is pending. */
  unref(): void;
  cancel(): void;
}

/** The longest delay that the machine's timers take: with more they fire at once. */
export const longestTimeout = 2 ** 31 - 1;

const machine: ClockHost = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout: (fire, delay) => {
    const timeout = setTimeout(fire, delay);
    return { unref: () => void timeout.unref(), cancel: () => clearTimeout(timeout) };
  },
  setImmediate: (fire) => void setImmediate(fire),
};

/** Returns the clock of the machine. @param host stands in for the machine in tests */
export function systemClock(host: ClockHost = machine): Clock {
  return new SystemClock(host);
}

class SystemClock implements Clock {
  readonly #host: ClockHost;

  constructor(host: ClockHost) {
    this.#host = host;
  }

  now(): ReturnType<Clock['now']> {
    return instant(this.#host.now());
  }

  monotonic(): ReturnType<Clock['monotonic']> {
    return monotonic(this.#host.monotonic());
  }

  timer(delay: Millis, fire: () => void, options: TimerOptions = {}): Timer {
    let timeout: HostTimeout | undefined;
    /** Arms the timer. Long delays are cut into pieces that the machine's timers can take. */
    const arm = (remaining: number): void => {
      const piece = Math.min(remaining, longestTimeout);
      const next = remaining - piece;
      timeout = this.#host.setTimeout(() => (next > 0 ? arm(next) : fire()), piece);
      if (options.background === true) timeout.unref();
    };
    arm(Math.max(0, delay));
    return { cancel: () => timeout?.cancel() };
  }

  sleep(delay: Millis, options: SleepOptions = {}): Promise<void> {
    const { signal } = options;
    return new Promise((resolve, reject: (reason: unknown) => void) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      const abort = (): void => {
        timer.cancel();
        reject(signal?.reason);
      };
      const wake = (): void => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const timer = this.timer(delay, wake, options);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  yield(): Promise<void> {
    return new Promise((resolve) => {
      this.#host.setImmediate(resolve);
    });
  }
}
