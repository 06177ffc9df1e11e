import type { Clock, Timer } from '#base/clock.ts';
import { backoffAfter } from '#base/time/backoff.ts';
import { type Millis, type Monotonic, millis, monotonic, seconds } from '#base/units.ts';
import type { WorkQueue } from './work-queue.ts';

/** Options of {@link createWorkQueue}. */
export interface WorkQueueOptions {
  readonly clock: Clock;
  /** Names the queue's timers. */
  readonly name: string;
  /** Backoff after the first failure. @default 5 ms */
  readonly baseDelay?: Millis;
  /** Longest backoff. @default 1000 s */
  readonly maxDelay?: Millis;
}

/** Returns an empty work queue on `options.clock`; see {@link WorkQueue} for what it promises. */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  return new RateLimitedQueue(options);
}

interface Deferral {
  readonly due: Monotonic;
  readonly timer: Timer;
}

class RateLimitedQueue implements WorkQueue {
  readonly #clock: Clock;
  readonly #name: string;
  readonly #baseDelay: Millis;
  readonly #maxDelay: Millis;
  /** Ready and not taken, in the order in which they became so. */
  readonly #ready = new Set<string>();
  readonly #taken = new Set<string>();
  /** Taken, and added again since: ready after `done`. Never in `#ready` at the same time. */
  readonly #dirty = new Set<string>();
  readonly #deferred = new Map<string, Deferral>();
  readonly #failures = new Map<string, number>();
  #takers: ((key: string | undefined) => void)[] = [];
  #isShutDown = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#name = options.name;
    this.#baseDelay = options.baseDelay ?? millis(5);
    this.#maxDelay = options.maxDelay ?? seconds(1_000);
  }

  get depth(): number {
    return this.#ready.size;
  }

  add(key: string): void {
    if (this.#isShutDown) return;
    this.#deferred.get(key)?.timer.cancel();
    this.#deferred.delete(key);
    if (this.#taken.has(key)) this.#dirty.add(key);
    else this.#offer(key);
  }

  addAfter(key: string, delay: Millis): void {
    if (this.#isShutDown || this.#ready.has(key) || this.#dirty.has(key)) return;
    if (delay <= 0) {
      this.add(key);
      return;
    }
    const due = monotonic(this.#clock.monotonic() + delay);
    const earlier = this.#deferred.get(key);
    if (earlier !== undefined && earlier.due <= due) return;
    earlier?.timer.cancel();
    const fire = (): void => this.add(key);
    const timer = this.#clock.timer(delay, fire, { owner: `${this.#name} ${key}` });
    this.#deferred.set(key, { due, timer });
  }

  addRateLimited(key: string): void {
    if (this.#isShutDown) return;
    const before = this.failures(key);
    this.#failures.set(key, before + 1);
    this.addAfter(key, backoffAfter(before, { first: this.#baseDelay, longest: this.#maxDelay }));
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  get(): Promise<string | undefined> {
    if (this.#isShutDown) return Promise.resolve(undefined);
    const [key] = this.#ready;
    if (key !== undefined) {
      this.#ready.delete(key);
      this.#taken.add(key);
      return Promise.resolve(key);
    }
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#takers.push(resolve);
    return promise;
  }

  done(key: string): void {
    this.#taken.delete(key);
    if (this.#dirty.delete(key)) this.#offer(key);
  }

  shutDown(): void {
    this.#isShutDown = true;
    for (const { timer } of this.#deferred.values()) timer.cancel();
    this.#deferred.clear();
    this.#ready.clear();
    this.#dirty.clear();
    this.#failures.clear();
    for (const take of this.#takers) take(undefined);
    this.#takers = [];
  }

  #offer(key: string): void {
    const take = this.#takers.shift();
    if (take === undefined) {
      this.#ready.add(key);
      return;
    }
    this.#taken.add(key);
    take(key);
  }
}
