import type { Clock, Timer } from '#base/clock.ts';
import { getOrAdd } from '#base/get-or-add.ts';
import { seconds } from '#base/units.ts';

/**
 * What a round does.
 *
 * @param sent to be called just before its first request leaves: who asks after that is not answered by this round
 */
export type Round = (signal: AbortSignal, sent: () => void) => Promise<void>;

/** A round that hangs is waited for so long; then the next one begins in parallel. */
const patience = seconds(1);

/** The rounds of one key. */
interface Lane {
  underWay: number;
  next: SharedRound | undefined;
  timer: Timer | undefined;
}

/**
 * Reads that all share who ask **before they are sent**: one that is under way may be answered by what was before the
 * question. So of each key at most one round is under way and one waits for its end, or for the second after which no caller
 * waits for a round that hangs: a flood of equal questions costs two rounds and not one each.
 */
export class SharedRounds {
  readonly #clock: Clock;
  /** Only those in which something is done. */
  readonly #lanes = new Map<string, Lane>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Waits for a round of `key` that is not sent yet; `round` is what it does where nothing waits for one.
   *
   * @throws what the round fails with, to each who waits for it; the reason of `signal` when that aborts first
   */
  async join(key: string, round: Round, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const lane = getOrAdd(this.#lanes, key, newLane);
    // One that all have left is given up, and answers no caller.
    if (lane.next?.isWanted !== true) lane.next = new SharedRound(round);
    const answer = lane.next.join(signal);
    if (lane.underWay === 0) this.#begin(key, lane);
    else if (!lane.next.hasBegun) lane.timer ??= this.#soon(key, lane);
    await answer;
  }

  #soon(key: string, lane: Lane): Timer {
    const options = { owner: 'round of reads in parallel to one that hangs', background: true };
    return this.#clock.timer(patience, () => this.#begin(key, lane), options);
  }

  #begin(key: string, lane: Lane): void {
    lane.timer?.cancel();
    lane.timer = undefined;
    const { next } = lane;
    if (next === undefined || !next.isWanted) {
      lane.next = undefined;
      if (lane.underWay === 0) this.#lanes.delete(key);
      return;
    }
    if (next.hasBegun) return;
    lane.underWay += 1;
    const sent = (): void => {
      if (lane.next === next) lane.next = undefined;
    };
    void next.run(sent).then(() => {
      sent();
      lane.underWay -= 1;
      this.#begin(key, lane);
    });
  }
}

function newLane(): Lane {
  return { underWay: 0, next: undefined, timer: undefined };
}

/** One round, and those who wait for its end. */
class SharedRound {
  readonly #round: Round;
  readonly #end = Promise.withResolvers<void>();
  /** Aborts when no caller waits any more. */
  readonly #unwanted = new AbortController();
  #waiting = 0;
  hasBegun = false;

  constructor(round: Round) {
    this.#round = round;
    // Everybody may have left when it fails.
    this.#end.promise.catch(() => undefined);
  }

  get isWanted(): boolean {
    return this.#waiting > 0;
  }

  async join(signal: AbortSignal): Promise<void> {
    this.#waiting += 1;
    const left = Promise.withResolvers<never>();
    const leave = (): void => {
      this.#waiting -= 1;
      left.reject(signal.reason);
      if (this.#waiting === 0) this.#unwanted.abort(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    try {
      await Promise.race([this.#end.promise, left.promise]);
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /** Resolves when the round has ended, however. */
  async run(sent: () => void): Promise<void> {
    this.hasBegun = true;
    try {
      await this.#round(this.#unwanted.signal, sent);
      this.#end.resolve();
    } catch (error) {
      this.#end.reject(error);
    }
  }
}
