import type { Clock, SleepOptions, Timer, TimerOptions } from '#base/clock.ts';
import type { Millis, Monotonic } from '#base/units.ts';

/** A clock whose timers die with the process that set them. */
export class MortalClock implements Clock {
  readonly #inner: Clock;
  readonly #timers = new Set<Timer>();
  #isDead = false;

  constructor(inner: Clock) {
    this.#inner = inner;
  }

  now(): ReturnType<Clock['now']> {
    return this.#inner.now();
  }

  monotonic(): Monotonic {
    return this.#inner.monotonic();
  }

  timer(delay: Millis, fire: () => void, options?: TimerOptions): Timer {
    if (this.#isDead) return { cancel: () => undefined };
    const timer = this.#inner.timer(
      delay,
      () => {
        this.#timers.delete(timer);
        fire();
      },
      options,
    );
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
        timer.cancel();
      },
    };
  }

  async sleep(delay: Millis, options: SleepOptions = {}): Promise<void> {
    const { signal, ...rest } = options;
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = this.timer(delay, resolve, rest);
    const abort = (): void => {
      timer.cancel();
      reject(signal?.reason instanceof Error ? signal.reason : new Error('the sleep was aborted'));
    };
    signal?.addEventListener('abort', abort, { once: true });
    try {
      await promise;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  async yield(): Promise<void> {
    await this.#inner.yield();
  }

  /** No timer fires any more, and none can be set. */
  kill(): void {
    this.#isDead = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}
