import type { Clock, SleepOptions, Timer, TimerOptions } from '#base/clock.ts';
import {
  type Instant,
  instant,
  type Millis,
  type Monotonic,
  millis,
  monotonic,
} from '#base/units.ts';
import { sleepBy } from './sleep-by.ts';

interface Pending {
  readonly due: number;
  readonly order: number;
  readonly fire: () => void;
  readonly options: TimerOptions;
}

/** A clock that stands still until a test moves it. Both of its times start at `start`, in milliseconds. */
export class FakeClock implements Clock {
  readonly #pending = new Set<Pending>();
  #time: number;
  /** How far the wall clock is ahead of the other one. */
  #wallAhead = 0;
  #order = 0;
  #yields = 0;

  constructor(start = 0) {
    this.#time = start;
  }

  now(): Instant {
    return instant(this.#time + this.#wallAhead);
  }

  monotonic(): Monotonic {
    return monotonic(this.#time);
  }

  timer(delay: Millis, fire: () => void, options: TimerOptions = {}): Timer {
    this.#order += 1;
    const pending = { due: this.#time + Math.max(0, delay), order: this.#order, fire, options };
    this.#pending.add(pending);
    return { cancel: () => void this.#pending.delete(pending) };
  }

  sleep(delay: Millis, options?: SleepOptions): Promise<void> {
    return sleepBy(this, delay, options);
  }

  async yield(): Promise<void> {
    this.#yields += 1;
    await hop();
    this.#yields -= 1;
  }

  /** Returns the delays until the pending timers fire, soonest first, in milliseconds. */
  pending(): readonly Millis[] {
    return this.#sorted().map((entry) => millis(entry.due - this.#time));
  }

  /** Sets the wall clock forward by `span` milliseconds, or back by a negative one; no time passes. */
  setWallClock(span: number): void {
    this.#wallAhead += span;
  }

  /** Moves time by `span` milliseconds, fires each timer at its time, and lets what follows run before the next. */
  async advance(span: number): Promise<void> {
    const end = this.#time + span;
    await this.settle();
    for (let next = this.#sorted()[0]; next !== undefined && next.due <= end; ) {
      this.#pending.delete(next);
      this.#time = Math.max(this.#time, next.due);
      next.fire();
      await this.settle();
      next = this.#sorted()[0];
    }
    this.#time = end;
    await this.settle();
  }

  /** Lets everything run that does not wait for time. */
  async settle(): Promise<void> {
    do await hop();
    while (this.#yields > 0);
    await hop();
  }

  #sorted(): readonly Pending[] {
    return [...this.#pending].sort((a, b) => a.due - b.due || a.order - b.order);
  }
}

function hop(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setImmediate(resolve);
  return promise;
}
