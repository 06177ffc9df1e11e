import type { Clock, SleepOptions, Timer, TimerOptions } from '#base/clock.ts';
import { after, type Instant, type Millis, type Monotonic, millis } from '#base/units.ts';

/** A clock whose wall time is wrong, or steps; what never steps (its monotonic time, its timers) stays as it is. */
export class SkewedClock implements Clock {
  readonly #inner: Clock;
  #skew: Millis = millis(0);

  constructor(inner: Clock) {
    this.#inner = inner;
  }

  /** Moves the wall clock by `span`; a negative one sets it back. */
  step(span: Millis): void {
    this.#skew = millis(this.#skew + span);
  }

  now(): Instant {
    return after(this.#inner.now(), this.#skew);
  }

  monotonic(): Monotonic {
    return this.#inner.monotonic();
  }

  timer(delay: Millis, fire: () => void, options?: TimerOptions): Timer {
    return this.#inner.timer(delay, fire, options);
  }

  async sleep(delay: Millis, options?: SleepOptions): Promise<void> {
    await this.#inner.sleep(delay, options);
  }

  async yield(): Promise<void> {
    await this.#inner.yield();
  }
}
