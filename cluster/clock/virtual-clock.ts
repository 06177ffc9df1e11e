import type { Clock, SleepOptions, Timer, TimerOptions } from '#base/clock.ts';
import { type Instant, instant, type Millis, type Monotonic, monotonic } from '#base/units.ts';
import { Activity } from './activity.ts';
import { type PendingTimer, TimerHeap } from './timer-heap.ts';

/** 2026-01-01T00:00:00Z. */
const DEFAULT_START = instant(1_767_225_600_000);

/** Event-loop hops without any movement after which work under way counts as leaked. */
const STUCK_HOPS = 20_000;

const HOT_OWNERS_SHOWN = 10;

/** Bounds of a run; passing one fails the run. */
export interface RunLimits {
  /** Virtual time. @default 24 h */
  readonly maxVirtual?: Millis;
  /** Timers fired. @default 1,000,000 */
  readonly maxSteps?: number;
}

async function hop(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}

/**
 * Time that moves only inside {@link advance}, {@link runUntil} and {@link runUntilIdle} (CK-2).
 *
 * Timers fire one by one in (due, sequence) order. After each one the clock lets the event loop run until nothing
 * is ready and nothing that {@link activity} counts is under way (CK-3).
 */
export class VirtualClock implements Clock {
  /** What transports and queues report as under way. */
  readonly activity = new Activity();
  readonly #start: Instant;
  readonly #timers = new TimerHeap();
  readonly #firings = new Map<string, number>();
  #now: number;
  #sequence = 0;
  #foreground = 0;
  #isRunning = false;

  constructor(start: Instant = DEFAULT_START) {
    this.#start = start;
    this.#now = start;
  }

  now(): Instant {
    return instant(this.#now);
  }

  monotonic(): Monotonic {
    return monotonic(this.#now - this.#start);
  }

  timer(delay: Millis, fire: () => void, options: TimerOptions = {}): Timer {
    this.#sequence += 1;
    const pending: PendingTimer = {
      due: this.#now + Math.max(0, delay),
      sequence: this.#sequence,
      owner: options.owner ?? 'unnamed',
      background: options.background ?? false,
      fire,
      isCancelled: false,
    };
    this.#timers.push(pending);
    if (!pending.background) this.#foreground += 1;
    return { cancel: () => this.#cancel(pending) };
  }

  async sleep(delay: Millis, options: SleepOptions = {}): Promise<void> {
    const { signal } = options;
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const abort = (): void => {
        timer.cancel();
        reject(signal?.reason instanceof Error ? signal.reason : new Error('sleep was aborted'));
      };
      const wake = (): void => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const timer = this.timer(delay, wake, options);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  async yield(): Promise<void> {
    await Promise.resolve();
  }

  /** Returns how many timers pend that are not in the background: zero means idle once quiescent (CK-4). */
  get pendingForeground(): number {
    return this.#foreground;
  }

  /** Moves time by `span`, firing what falls due. @throws {Error} for a leaked await, and what a timer throws */
  async advance(span: Millis): Promise<void> {
    await this.#exclusively(async () => {
      const end = this.#now + span;
      for (;;) {
        const next = this.#timers.peek();
        if (next === undefined || next.due > end) break;
        await this.#step();
      }
      this.#now = end;
    });
  }

  /** Moves time until `predicate` holds, at once if it does. @throws {Error} when a limit passes or nothing is left to wait for */
  async runUntil(predicate: () => boolean, limits: RunLimits = {}): Promise<void> {
    await this.#exclusively(async () => {
      const allowed = this.#allowance(limits, 'runUntil');
      while (!predicate()) {
        const next = this.#timers.peek();
        if (next === undefined) {
          throw new Error(
            'Cannot run until the predicate holds as no timer is pending and it is false',
          );
        }
        allowed(next);
        await this.#step();
      }
    });
  }

  /** Moves time until only background timers are left (CK-4). @throws {Error} naming the hottest timer owners when a limit passes */
  async runUntilIdle(limits: RunLimits = {}): Promise<void> {
    await this.#exclusively(async () => {
      const allowed = this.#allowance(limits, 'runUntilIdle');
      while (this.#foreground > 0) {
        const next = this.#timers.peek();
        if (next === undefined) throw new Error('Cannot find the foreground timer that is counted');
        allowed(next);
        await this.#step();
      }
    });
  }

  /** Lets everything run that is ready now, without moving time. */
  async quiesce(): Promise<void> {
    let idleHops = 0;
    for (;;) {
      const { moves } = this.activity;
      const sequence = this.#sequence;
      await hop();
      const hasMoved = moves !== this.activity.moves || sequence !== this.#sequence;
      if (!hasMoved && this.activity.underWay === 0) return;
      idleHops = hasMoved ? 0 : idleHops + 1;
      if (idleHops > STUCK_HOPS) {
        throw new Error(
          `Cannot move virtual time as something never ends (leaked await): ${this.activity.describe()}`,
        );
      }
    }
  }

  #cancel(pending: PendingTimer): void {
    if (pending.isCancelled) return;
    pending.isCancelled = true;
    if (!pending.background) this.#foreground -= 1;
  }

  async #step(): Promise<void> {
    const timer = this.#timers.pop();
    if (timer === undefined) return;
    this.#cancel(timer);
    this.#now = Math.max(this.#now, timer.due);
    this.#firings.set(timer.owner, (this.#firings.get(timer.owner) ?? 0) + 1);
    timer.fire();
    await this.quiesce();
  }

  async #exclusively(run: () => Promise<void>): Promise<void> {
    if (this.#isRunning)
      throw new Error('Cannot move virtual time as another call moves it already');
    this.#isRunning = true;
    try {
      this.#firings.clear();
      await this.quiesce();
      await run();
    } finally {
      this.#isRunning = false;
    }
  }

  #allowance(limits: RunLimits, run: string): (next: PendingTimer) => void {
    const { maxSteps = 1_000_000, maxVirtual = 24 * 3_600_000 } = limits;
    const end = this.#now + maxVirtual;
    let steps = 0;
    return (next) => {
      steps += 1;
      if (steps > maxSteps) {
        throw new Error(
          `Cannot end ${run} within ${maxSteps} steps; most fired: ${this.#hottest()}`,
        );
      }
      if (next.due > end) {
        throw new Error(
          `Cannot end ${run} within ${maxVirtual} ms of virtual time; most fired: ${this.#hottest()}`,
        );
      }
    };
  }

  #hottest(): string {
    return [...this.#firings]
      .sort(([, a], [, b]) => b - a)
      .slice(0, HOT_OWNERS_SHOWN)
      .map(([owner, count]) => `${owner} ${count}`)
      .join(', ');
  }
}
