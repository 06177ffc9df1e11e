import {
  after,
  type Instant,
  instant,
  type Millis,
  millis,
  minutes,
  seconds,
} from '#base/units.ts';
import type { Scale } from '#control/decision.ts';
import { because } from '#control/refs.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { Pace } from './snapshot.ts';

/** What was tried last about one set. */
interface Attempts {
  readonly to: number;
  readonly at: Instant;
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
 * How soon a count may be written to a set again (KW-22): ever later after each refusal, and ever later where somebody
 * else keeps undoing it, such as an autoscaler on a follower. Another count is free at once.
 */
export class WritePaces {
  readonly #attempts = new Map<string, Attempts>();
  #sweptAt: Instant = instant(0);

  /** The write of `scale` was refused for `why`. @returns until when it is not repeated */
  refused({ set, from, to }: Scale, why: string, now: Instant): Pace {
    const before = this.#before(set.uid, to, now);
    const refusals = before.refusals + 1;
    const until = after(now, backoff(firstRefusal, refusals, longestRefusal));
    const message = `${set.name} stays at ${from} instead of ${to} replicas, as the write was refused: ${why}`;
    const pace = { to, until, because: because('ScaleRefused', message) };
    this.#attempts.set(set.uid, { ...before, at: now, refusals, pace });
    return pace;
  }

  /** `scale` was written. */
  written({ set, to }: Scale, now: Instant): void {
    const before = this.#before(set.uid, to, now);
    const writes = before.writes + 1;
    const surplus = writes - freeWrites;
    const pace = surplus < 0 ? undefined : contest(set.name, { to, writes, surplus }, now);
    this.#attempts.set(set.uid, { to, at: now, refusals: 0, writes, pace });
  }

  /** What may not be repeated yet about `sets`, by uid. */
  of(sets: readonly StatefulSetView[], now: Instant): ReadonlyMap<string, Pace> {
    const found = new Map<string, Pace>();
    for (const { uid } of sets) {
      const pace = this.#attempts.get(uid)?.pace;
      if (pace !== undefined && pace.until > now) found.set(uid, pace);
    }
    return found;
  }

  /** Forgets what is too old to matter; looks at all of it now and then only. */
  sweep(now: Instant): void {
    if (now - this.#sweptAt < sweepEvery) return;
    this.#sweptAt = now;
    for (const [uid, { at }] of this.#attempts) {
      if (now - at > memory) this.#attempts.delete(uid);
    }
  }

  #before(uid: string, to: number, now: Instant): Attempts {
    const before = this.#attempts.get(uid);
    const isSame = before !== undefined && before.to === to && now - before.at <= memory;
    return isSame ? before : { to, at: now, refusals: 0, writes: 0, pace: undefined };
  }
}

function contest(
  name: string,
  {
    to,
    writes,
    surplus,
  }: { readonly to: number; readonly writes: number; readonly surplus: number },
  now: Instant,
): Pace {
  const until = after(now, backoff(firstContest, surplus + 1, longestContest));
  const message = `${name} was given ${to} replicas ${writes} times, and somebody else changes them back`;
  return { to, until, because: because('ReplicasContested', message) };
}

function backoff(first: Millis, attempt: number, longest: Millis): Millis {
  return millis(Math.min(first * 2 ** (attempt - 1), longest));
}
