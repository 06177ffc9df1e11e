import type { Clock, SleepOptions, Timer } from '#base/clock.ts';
import { type Instant, instant, type Millis, type Monotonic, monotonic } from '#base/units.ts';

interface Pending {
  readonly at: number;
  readonly fire: () => void;
}

/** A {@link Clock} that stands still until {@link ManualClock.advance} moves it; timers fire in order of time, then of setting. */
export class ManualClock implements Clock {
  readonly #start: Instant;
  #elapsed = 0;
  #pending: Pending[] = [];

  constructor(start: Instant = instant(1_700_000_000_000)) {
    this.#start = start;
  }

  /** Returns how many timers have neither fired nor been cancelled. */
  get pendingTimers(): number {
    return this.#pending.length;
  }

  now(): Instant {
    return instant(this.#start + this.#elapsed);
  }

  monotonic(): Monotonic {
    return monotonic(this.#elapsed);
  }

  timer(delay: Millis, fire: () => void): Timer {
    const pending = { at: this.#elapsed + Math.max(0, delay), fire };
    this.#pending.push(pending);
    return { cancel: () => this.#remove(pending) };
  }

  async sleep(delay: Millis, options: SleepOptions = {}): Promise<void> {
    const { signal } = options;
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        timer.cancel();
        reject(signal?.reason instanceof Error ? signal.reason : new Error(String(signal?.reason)));
      };
      const timer = this.timer(delay, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  async yield(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }

  /** Moves time on by `span` and fires what falls due, synchronously. */
  advance(span: Millis): void {
    const end = this.#elapsed + span;
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#remove(next);
      this.#elapsed = Math.max(this.#elapsed, next.at);
      next.fire();
    }
    this.#elapsed = end;
  }

  #next(end: number): Pending | undefined {
    let first: Pending | undefined;
    for (const pending of this.#pending) {
      if (pending.at <= end && (first === undefined || pending.at < first.at)) first = pending;
    }
    return first;
  }

  #remove(pending: Pending): void {
    this.#pending = this.#pending.filter((each) => each !== pending);
  }
}
