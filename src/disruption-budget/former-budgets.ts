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
  /** When budgets came to select what others may have given away, by uid. */
  readonly #tookOver = new Map<string, Monotonic>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** `budget` is not as it was, or not at all, from now on. */
  left(budget: KnownBudget): void {
    const since = this.#clock.monotonic();
    this.#all = [...this.#recent(since), { budget, since }];
    for (const [uid, at] of this.#tookOver) {
      if (since - at > evictionLife) this.#tookOver.delete(uid);
    }
  }

  /** `budget` is as it is from now on, and was `before`, beside the others of `known`. */
  changed(
    budget: KnownBudget | undefined,
    before: KnownBudget | undefined,
    known: readonly KnownBudget[],
  ): void {
    if (budget === undefined || isSameSelector(budget, before)) return;
    if (this.precede(budget, known)) this.#tookOver.set(budget.uid, this.#clock.monotonic());
  }

  /** When the selector of the budget `uid` was changed last to pods that another one may have given away. */
  tookOverAt(uid: string): Monotonic | undefined {
    return this.#tookOver.get(uid);
  }

  /** Whether another budget of `known`, or one of the last 120 s, may have given away what `budget` selects. */
  precede(budget: KnownBudget, known: readonly KnownBudget[]): boolean {
    const former = this.#recent(this.#clock.monotonic()).map((each) => each.budget);
    return [...known, ...former].some(
      (each) => each.name !== budget.name && mayOverlap(each, budget),
    );
  }

  #recent(now: Monotonic): readonly Former[] {
    return this.#all.filter(({ since }) => now - since <= evictionLife);
  }
}

/** Whether some pod may be governed by both: those that want two values of one label have none together. */
function mayOverlap(one: KnownBudget, other: KnownBudget): boolean {
  if (one.namespace !== other.namespace) return false;
  const [labels, others] = [one.matchLabels, other.matchLabels];
  // What cannot be told may be any pod of the namespace.
  if (labels === undefined || others === undefined) return true;
  return [...labels].every(([key, value]) => (others.get(key) ?? value) === value);
}

function isSameSelector(one: KnownBudget, other: KnownBudget | undefined): boolean {
  const [labels, others] = [one.matchLabels, other?.matchLabels];
  if (labels === undefined || others === undefined) return labels === others;
  return (
    labels.size === others.size && [...labels].every(([key, value]) => others.get(key) === value)
  );
}
