import type { Because } from '#base/because.ts';
import type { Monotonic } from '#base/units.ts';
import type { Reason } from '../decision/reasons.ts';
import { because } from '../decision/refs.ts';
import { askedWait, type DisruptionRefusal, Refusals } from './refusals.ts';

/**
 * Requests of passes that failed, by key of the group and what they were for: each is repeated ever more rarely and as
 * late as the server asked for, however often the group is woken, while what needs no such request goes on.
 */
export class RequestRefusals {
  readonly #byKey = new Map<string, Refusals>();

  /** Notes that a request for `what` failed. */
  failed(key: string, what: string, { error, now }: Failed): void {
    const why = because('RequestRefused', error.message);
    this.#of(key).held(what, { why, asked: askedWait(error) }, now);
  }

  /** Notes that `what` could not be done for `why`, although no request for it failed. */
  held(key: string, what: string, held: Held): void {
    this.#of(key).held(what, { why: held.why, asked: undefined }, held.now);
  }

  /** Notes that what is asked for `what` is answered well again. */
  recovered(key: string, what: string, now: Monotonic): void {
    this.#byKey.get(key)?.recovered(what, now);
  }

  /** Returns why nothing is asked for `what` at `now`. */
  of(key: string, what: string, now: Monotonic): DisruptionRefusal | undefined {
    return this.#byKey.get(key)?.of(what, now);
  }

  /** Forgets the group `key`, which is gone. */
  forget(key: string): void {
    this.#byKey.delete(key);
  }

  #of(key: string): Refusals {
    const known = this.#byKey.get(key) ?? new Refusals();
    this.#byKey.set(key, known);
    return known;
  }
}

interface Failed {
  readonly error: Error;
  readonly now: Monotonic;
}

interface Held {
  readonly why: Because<Reason>;
  readonly now: Monotonic;
}
