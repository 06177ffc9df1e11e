import type { Clock, SleepOptions, Timer, TimerOptions } from '#base/clock.ts';
import { type Instant, instant, type Millis, type Monotonic, millis } from '#base/units.ts';
import { sleepBy } from './sleep-by.ts';

/** The clock of a process that may be stopped: time goes on, but no timer fires before it runs again. */
export class PausableClock implements Clock {
  readonly #inner: Clock;
  readonly #wallAhead: number;
  #missed: (() => void)[] = [];
  #pauses = 0;
  #resumed = Promise.withResolvers<void>();

  /** @param wallAhead how far its wall clock is ahead, in milliseconds */
  constructor(inner: Clock, wallAhead = 0) {
    this.#inner = inner;
    this.#wallAhead = wallAhead;
  }

  get isPaused(): boolean {
    return this.#pauses > 0;
  }

  now(): Instant {
    return instant(this.#inner.now() + this.#wallAhead);
  }

  monotonic(): Monotonic {
    return this.#inner.monotonic();
  }

  timer(delay: Millis, fire: () => void, options?: TimerOptions): Timer {
    let isCancelled = false;
    const fireIfRunning = (): void => {
      if (isCancelled) return;
      if (this.isPaused) this.#missed.push(fireIfRunning);
      else fire();
    };
    const timer = this.#inner.timer(delay, fireIfRunning, options);
    return {
      cancel: () => {
        isCancelled = true;
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

  /** Stops the process for `span`. */
  pause(span: Millis): void {
    this.#pauses += 1;
    this.#inner.timer(span, () => this.#resume());
  }

  /** Resolves when the process runs, at once if it does. */
  async running(): Promise<void> {
    while (this.isPaused) await this.#resumed.promise;
  }

  #resume(): void {
    this.#pauses -= 1;
    if (this.isPaused) return;
    const missed = this.#missed;
    this.#missed = [];
    const resumed = this.#resumed;
    this.#resumed = Promise.withResolvers<void>();
    // Answers that lay ready may well be seen before the timers: both orders must do.
    resumed.resolve();
    for (const fire of missed) this.#inner.timer(millis(0), fire);
  }
}
