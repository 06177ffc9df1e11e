import {
  after,
  type Instant,
  type Millis,
  type Monotonic,
  millis,
  minutes,
  monotonic,
  seconds,
} from '#base/units.ts';
import { formatUtcSeconds } from '#base/utc-seconds.ts';
import { because } from '#control/refs.ts';
import type { Pace } from './snapshot.ts';

/** One write of a count, as far as its pace depends on it. */
export interface PacedWrite {
  /** Names what is written, such as the uid of a set. */
  readonly key: string;
  /** The same for people, as the subject of a sentence. */
  readonly subject: string;
  /** What it said before. */
  readonly from: number;
  readonly to: number;
}

/** One moment on both clocks: waits are measured by the one, and told by the other. */
export interface PaceMoment {
  readonly now: Instant;
  readonly at: Monotonic;
}

/** What was tried last about one key. */
interface Attempts {
  readonly to: number;
  readonly at: Monotonic;
  /** Refusals in a row of this count. */
  readonly refusals: number;
  /** Writes of this count that somebody else undid. */
  readonly writes: number;
  readonly pace: Pace | undefined;
}

/** After this time without an attempt, what was tried is forgotten. */
const memory = minutes(10);
const sweepEvery = minutes(1);
const firstRefusal = seconds(1);
const longestRefusal = seconds(60);
/** Writes of the same count that go out at once. */
const freeWrites = 3;
const firstContest = seconds(10);
const longestContest = minutes(5);

/**
 * How soon a count may be written again (KW-22): ever later after each refusal, and ever later where somebody else keeps
 * undoing it, such as an autoscaler on a follower. Another count is free at once. No wait depends on the wall clock.
 */
export class WritePaces {
  readonly #attempts = new Map<string, Attempts>();
  #sweptAt: Monotonic | undefined;

  /** The write was refused for `why`. @returns until when it is not repeated */
  refused(write: PacedWrite, why: string, moment: PaceMoment): Pace {
    const { key, subject, from, to } = write;
    const before = this.#before(key, to, moment.at);
    const refusals = before.refusals + 1;
    const wait = backoff(firstRefusal, refusals, longestRefusal);
    const message =
      `${subject} stays at ${from} instead of ${to} replicas, as the write was refused: ${why}; ` +
      `it is tried again at ${told(wait, moment)}`;
    const until = monotonic(moment.at + wait);
    const pace = { to, until, because: because('ScaleRefused', message) };
    this.#attempts.set(key, { ...before, at: moment.at, refusals, pace });
    return pace;
  }

  /** The write was stored. */
  written({ key, subject, from, to }: PacedWrite, moment: PaceMoment): void {
    const writes = this.#before(key, to, moment.at).writes + 1;
    const attempts = { to, at: moment.at, refusals: 0, writes, pace: undefined };
    this.#attempts.set(key, attempts);
    if (writes < freeWrites) return;
    const wait = backoff(firstContest, writes - freeWrites + 1, longestContest);
    const message =
      `${subject} was given ${to} replicas ${writes} times, and somebody else changes them back to ${from}; ` +
      `they are written again at ${told(wait, moment)}`;
    const until = monotonic(moment.at + wait);
    const pace = { to, until, because: because('ReplicasContested', message) };
    this.#attempts.set(key, { ...attempts, pace });
  }

  /** What may not be repeated yet about `key`. */
  of(key: string, at: Monotonic): Pace | undefined {
    const pace = this.#attempts.get(key)?.pace;
    return pace !== undefined && pace.until > at ? pace : undefined;
  }

  /** Forgets what is too old to matter; looks at all of it now and then only. */
  sweep(at: Monotonic): void {
    if (this.#sweptAt !== undefined && at - this.#sweptAt < sweepEvery) return;
    this.#sweptAt = at;
    for (const [key, attempts] of this.#attempts) {
      if (at - attempts.at > memory) this.#attempts.delete(key);
    }
  }

  #before(key: string, to: number, at: Monotonic): Attempts {
    const before = this.#attempts.get(key);
    const isSame = before !== undefined && before.to === to && at - before.at <= memory;
    return isSame ? before : { to, at, refusals: 0, writes: 0, pace: undefined };
  }
}

function told(wait: Millis, { now }: PaceMoment): string {
  return formatUtcSeconds(after(now, wait));
}

function backoff(first: Millis, attempt: number, longest: Millis): Millis {
  return millis(Math.min(first * 2 ** (attempt - 1), longest));
}
