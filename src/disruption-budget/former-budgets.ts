import type { Clock } from '#base/clock.ts';
import type { Monotonic } from '#base/units.ts';
import { evictionLife } from '#disruption/release.ts';
import type { KnownBudget } from './known-budgets.ts';

interface Former {
  readonly budget: KnownBudget;
  /** When it was not so any more. */
  readonly since: Monotonic;
}

/** Budgets as they were until they changed or went, for as long as what was given away under them may still happen. */
export class FormerBudgets {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** The longest gone first. */
  #all: readonly Former[] = [];

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** `budget` is not as it was, or not at all, from now on. */
  left(budget: KnownBudget): void {
    const since = this.#clock.monotonic();
    this.#all = [...this.#recent(since), { budget, since }];
  }

  /** Returns all that were within the last 120 s. */
  list(): readonly KnownBudget[] {
    return this.#recent(this.#clock.monotonic()).map(({ budget }) => budget);
  }

  #recent(now: Monotonic): readonly Former[] {
    return this.#all.filter(({ since }) => now - since <= evictionLife);
  }
}

/**
 * Returns whether some pod may be governed by both, as far as their selectors tell: those that want two values of one label
 * have none together. What cannot be told may be.
 */
export function mayOverlap(one: KnownBudget, other: KnownBudget): boolean {
  if (one.namespace !== other.namespace) return false;
  const [labels, others] = [one.matchLabels, other.matchLabels];
  if (labels === undefined || others === undefined) return true;
  return [...labels].every(([key, value]) => (others.get(key) ?? value) === value);
}
