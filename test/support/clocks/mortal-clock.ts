import type { Clock, SleepOptions, Timer, TimerOptions } from '#base/clock.ts';
import type { Millis, Monotonic } from '#base/units.ts';
import { sleepBy } from './sleep-by.ts';

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

  sleep(delay: Millis, options?: SleepOptions): Promise<void> {
    return sleepBy(this, delay, options);
  }

  async yield(): Promise<void> {
    await this.#inner.yield();
  }

  /** Kills it: no timer fires any more, and none can be set. */
  kill(): void {
    this.#isDead = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}
