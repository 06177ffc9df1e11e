import type { Because } from '#base/because.ts';
import { backoffAfter } from '#base/time/backoff.ts';
import { type Millis, type Monotonic, minutes, monotonic, seconds } from '#base/units.ts';
import type { Reason } from '../decision/reasons.ts';

/** A write of `to` that must not be repeated before `until`: it was refused, or another client undoes it again and again. */
export interface WritePause<T, Why extends string = Reason> {
  /** What was to be written. */
  readonly to: T;
  readonly until: Monotonic;
  readonly because: Because<Why>;
}

/** One write of a value, by the clock that never steps. */
export interface WriteAttempt<T> {
  /** Names what is written, such as the uid of a set. */
  readonly key: string;
  readonly to: T;
  readonly at: Monotonic;
}

/** What was tried last about one key. */
interface Attempts<T, Why extends string> {
  readonly to: T;
  readonly at: Monotonic;
  /** Refusals in a row of this value. */
  readonly refusals: number;
  /** Writes of this value that another client undid. */
  readonly writes: number;
  readonly pause: WritePause<T, Why> | undefined;
}

/** After this time without an attempt, what was tried is forgotten. */
const memory = minutes(10);
const sweepEvery = minutes(1);
const afterRefusals = { first: seconds(1), longest: seconds(60) };
/** Writes of the same value that go out at once. */
const freeWrites = 3;
const afterContests = { first: seconds(10), longest: minutes(5) };

/**
 * How soon a value may be written again (KW-22): ever later after each refusal, and ever later where another client keeps
 * undoing it. Another value is free at once. No wait depends on the wall clock.
 */
export class WriteAttempts<T, Why extends string = Reason> {
  readonly #attempts = new Map<string, Attempts<T, Why>>();
  #sweptAt: Monotonic | undefined;

  /** Notes that the write was refused; `why` says so, and after what time it is repeated. */
  refused(write: WriteAttempt<T>, why: (wait: Millis) => Because<Why>): WritePause<T, Why> {
    const { key, to, at } = write;
    const before = this.#before(write);
    const refusals = before.refusals + 1;
    const wait = backoffAfter(refusals - 1, afterRefusals);
    const pause = { to, until: monotonic(at + wait), because: why(wait) };
    this.#attempts.set(key, { ...before, at, refusals, pause });
    return pause;
  }

  /** Notes that the write was stored; `why` says how often by now, and after what time it is repeated. */
  written(write: WriteAttempt<T>, why: (writes: number, wait: Millis) => Because<Why>): void {
    const { key, to, at } = write;
    const writes = this.#before(write).writes + 1;
    const wait = backoffAfter(writes - freeWrites, afterContests);
    const pause =
      writes < freeWrites
        ? undefined
        : { to, until: monotonic(at + wait), because: why(writes, wait) };
    this.#attempts.set(key, { to, at, refusals: 0, writes, pause });
  }

  /** Returns what may not be repeated yet about `key`. */
  of(key: string, at: Monotonic): WritePause<T, Why> | undefined {
    const pause = this.#attempts.get(key)?.pause;
    return pause !== undefined && pause.until > at ? pause : undefined;
  }

  /** Forgets what is too old to matter; looks at all of it now and then only. */
  sweep(at: Monotonic): void {
    if (this.#sweptAt !== undefined && at - this.#sweptAt < sweepEvery) return;
    this.#sweptAt = at;
    for (const [key, attempts] of this.#attempts) {
      if (at - attempts.at > memory) this.#attempts.delete(key);
    }
  }

  #before({ key, to, at }: WriteAttempt<T>): Attempts<T, Why> {
    const before = this.#attempts.get(key);
    const isSame = before !== undefined && before.to === to && at - before.at <= memory;
    return isSame ? before : { to, at, refusals: 0, writes: 0, pause: undefined };
  }
}
