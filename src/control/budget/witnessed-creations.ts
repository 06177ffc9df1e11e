import type { Clock } from '#base/clock.ts';
import { type Instant, type Monotonic, seconds } from '#base/units.ts';

/**
 * Within this time of a budget's creation nothing else can have granted under it, and lost what he wrote down. In
 * milliseconds; creation times are in whole seconds of another clock.
 */
const newborn = seconds(10);

/** A budget as the watch shows it. */
export interface CreatedBudget {
  readonly uid: string;
  /** When the API server says that it was made; undefined where it does not say. */
  readonly createdAt: Instant | undefined;
}

/**
 * Which budgets this process saw being made: of these a ledger that is missing is empty, as nothing was granted yet (D-34).
 *
 * That holds only briefly. Every replica grants: some seconds later another one may have written a ledger, which
 * a user has deleted since, and what it held still counts. So a budget that was made longer ago is one whose creation was
 * not seen, however well it was; and so is one whose creation is reported late, as by a watch that resumes, or is dated by a
 * clock that differs from ours.
 */
export class WitnessedCreations {
  readonly #clock: Clock;
  /** When each was seen to be made, by uid, oldest first. */
  readonly #seen = new Map<string, Monotonic>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that the watch shows `budget` for the first time. */
  added({ uid, createdAt }: CreatedBudget): void {
    const at = this.#clock.monotonic();
    for (const [old, since] of this.#seen) {
      if (at - since <= newborn) break;
      this.#seen.delete(old);
    }
    if (createdAt === undefined || Math.abs(this.#clock.now() - createdAt) > newborn) return;
    this.#seen.set(uid, at);
  }

  /** Reports whether the budget `uid` was seen to be made, at most 10 s before `now`. */
  saw(uid: string, now: Monotonic): boolean {
    const at = this.#seen.get(uid);
    return at !== undefined && now - at <= newborn;
  }
}
