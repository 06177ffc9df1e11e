import type { Because } from '#base/because.ts';
import { backoffAfter } from '#base/time/backoff.ts';
import { type Millis, type Monotonic, millis, monotonic, seconds } from '#base/units.ts';
import { ApiError } from '#kubernetes/transport/api-error.ts';
import type { Reason } from '../decision/reasons.ts';

/** What keeps the disruptions of a group back since one of them failed. */
export interface DisruptionRefusal {
  readonly until: Monotonic;
  readonly because: Because<Reason>;
}

interface Setback {
  /** Since a disruption was last carried out; what fails before the wait for the one before it is over counts with it. */
  readonly count: number;
  /** When that wait is over. */
  readonly until: Monotonic;
  readonly refusal: DisruptionRefusal | undefined;
  /** A failure that no pass has counted yet. */
  readonly untold: Error | undefined;
}

const never = monotonic(Number.NEGATIVE_INFINITY);
const none: Setback = { count: 0, until: never, refusal: undefined, untold: undefined };
const longest = seconds(30);
const afterRefusals = { first: millis(25), longest };
const afterRaces = { first: millis(5), longest };
/** Races with others that a group may lose before its deletions are held. */
const freeRaces = 2;
/** No server is believed that asks for more: it may have meant another. */
const longestAsked = seconds(60);

/**
 * Setbacks of disruptions, by key of the group. Every change of the world wakes a group, but what the server refused is
 * repeated ever more rarely, and as late as the server asked for.
 */
export class Refusals {
  readonly #byKey = new Map<string, Setback>();
  /** When a server last said of a group that its world had moved. */
  readonly #outrunAt = new Map<string, Monotonic>();

  /** Notes that a disruption of `key` failed with `error` at `now`; the next pass counts as failed (ME-11). */
  failed(key: string, error: Error, now: Monotonic): void {
    const asked = askedWait(error) ?? millis(0);
    const why = { reason: 'RequestRefused', message: error.message } as const;
    this.#refuse(key, { why, untold: error, asked }, now);
  }

  /** Notes that a disruption of `key` was not sent, as what it rests on had become too old by then. */
  stale(key: string, { message }: Error, now: Monotonic): void {
    this.held(key, { why: { reason: 'ViewNotFresh', message }, asked: undefined }, now);
  }

  /** Notes that what is wanted of `key` cannot be done at `now`, which is no failure, or one that was counted already. */
  held(
    key: string,
    { why, asked }: { readonly why: Because<Reason>; readonly asked: Millis | undefined },
    now: Monotonic,
  ): void {
    this.#refuse(key, { why, untold: undefined, asked: asked ?? millis(0) }, now);
  }

  /**
   * Notes that the world had moved under a disruption of `key`; `answer` says so where the server did. That is nothing
   * unusual once or twice; from then on it is held as what was refused.
   *
   * @returns after what time the group is planned again
   */
  outrun(key: string, answer: Error | undefined, now: Monotonic): Millis {
    const before = this.#byKey.get(key) ?? none;
    const count = countAt(before, now);
    const wait = backoffAfter(count - 1, afterRaces);
    if (answer !== undefined) this.#outrunAt.set(key, now);
    if (answer !== undefined && count > freeRaces) {
      const why = { reason: 'RequestRefused', message: answer.message } as const;
      this.#refuse(key, { why, untold: undefined, asked: wait }, now);
    } else {
      const until = monotonic(Math.max(before.until, now + wait));
      this.#byKey.set(key, { ...before, count, until });
    }
    return wait;
  }

  /** Notes that a disruption of `key` was carried out at `now`; one that was sent before another failed changes nothing. */
  recovered(key: string, now: Monotonic): void {
    const setback = this.#byKey.get(key);
    if (setback?.untold === undefined && this.of(key, now) === undefined) this.#byKey.delete(key);
  }

  /** Forgets the group `key`, which is gone. */
  forget(key: string): void {
    this.#byKey.delete(key);
    this.#outrunAt.delete(key);
  }

  /**
   * Returns when the server last said that the world had moved under a disruption of `key`: what was seen before is not what
   * there is.
   */
  outrunAt(key: string): Monotonic | undefined {
    return this.#outrunAt.get(key);
  }

  /** Returns what keeps disruptions of `key` back at `now`. */
  of(key: string, now: Monotonic): DisruptionRefusal | undefined {
    const refusal = this.#byKey.get(key)?.refusal;
    return refusal !== undefined && refusal.until > now ? refusal : undefined;
  }

  /** Returns the failure of `key` that no pass has counted yet; each is given once (ME-11). */
  takeUntold(key: string): Error | undefined {
    const setback = this.#byKey.get(key);
    if (setback?.untold === undefined) return undefined;
    this.#byKey.set(key, { ...setback, untold: undefined });
    return setback.untold;
  }

  #refuse(
    key: string,
    what: {
      readonly why: Because<Reason>;
      readonly untold: Error | undefined;
      readonly asked: Millis;
    },
    now: Monotonic,
  ): void {
    const before = this.#byKey.get(key) ?? none;
    const count = countAt(before, now);
    const wait = Math.max(backoffAfter(count - 1, afterRefusals), what.asked);
    const until = monotonic(Math.max(before.until, now + wait));
    const { untold } = before;
    this.#byKey.set(key, {
      count,
      until,
      refusal: { until, because: what.why },
      untold: what.untold ?? untold,
    });
  }
}

/** Returns how long the server wants `error`'s request not to be repeated, at most 60 s; undefined: it does not say. */
export function askedWait(error: Error): Millis | undefined {
  const asked = error instanceof ApiError ? error.retryAfter : undefined;
  return asked === undefined ? undefined : millis(Math.min(asked, longestAsked));
}

/** Returns which setback in a row one at `now` is: many requests that are under way at once fail of one cause. */
function countAt({ count, until }: Setback, now: Monotonic): number {
  return until > now ? count : count + 1;
}
