import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { changedAfter, unchangedAfter } from '#base/told-again.ts';
import type { Monotonic } from '#base/units.ts';
import type { Leading } from './leader-election.ts';

interface Told {
  readonly message: string;
  readonly at: Monotonic;
}

/** Tells in the log what becomes of an election: each change, and failures for as long as they last. */
export class ElectionLog {
  readonly #log: Logger;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #failure: Told | undefined;

  constructor(log: Logger, clock: Pick<Clock, 'monotonic'>) {
    this.#log = log;
    this.#clock = clock;
  }

  leading(term: string, predecessor: Leading['predecessor']): void {
    this.#log.info('leading', { term, predecessor: predecessor.kind });
  }

  following(because: string): void {
    this.#log.info('following', { reason: because });
  }

  lost(because: string): void {
    this.#log.error('leadership lost', { reason: because });
  }

  /** Tells that the Role denies `verb`, and this process leads without a Lease. */
  denied(verb: string, error: Error): void {
    this.#log.warn('no lease, leading without: every start waits for its predecessor', {
      verb,
      err: error,
    });
  }

  /** Tells that the Lease does not name requests under way for a while. */
  muted(because: string): void {
    this.#log.warn('the lease does not name requests under way: a successor waits for all', {
      reason: because,
    });
  }

  /** Tells that a request failed: once, and again where the cause changes or lasts. */
  failed(error: Error): void {
    const now = this.#clock.monotonic();
    const { message } = error;
    const told = this.#failure;
    const pause = told?.message === message ? unchangedAfter : changedAfter;
    if (told !== undefined && now - told.at < pause) return;
    this.#failure = { message, at: now };
    this.#log.warn('lease request failed', { err: error });
  }

  /** Notes that the requests succeed again: the next failure is new. */
  recovered(): void {
    this.#failure = undefined;
  }
}
