import type { Instant } from '#base/units.ts';
import type { SetHold } from '#control/plan/set-holds.ts';

/** Until when rollouts were held for the sake of an earlier process: that is no time in which they made no progress. */
export class HeldTimes {
  readonly #until = new Map<string, Instant>();

  /** Notes what holds the rollout `key` now. @returns until when it was held, or is; undefined where it never was */
  note(key: string, holds: readonly SetHold[]): Instant | undefined {
    const hold = holds.find(({ because }) => because.reason === 'AwaitingPredecessor');
    if (hold?.until !== undefined) this.#until.set(key, hold.until);
    return this.#until.get(key);
  }

  forget(key: string): void {
    this.#until.delete(key);
  }
}
