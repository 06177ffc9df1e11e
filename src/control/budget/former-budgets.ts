import type { Clock } from '#base/clock.ts';
import type { Monotonic } from '#base/units.ts';
import { evictionLife } from '#disruption/release.ts';

/** A budget as far as it matters who governed what before it. */
interface Selecting {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Finds budgets that may overlap with another one, without a look at each. */
export interface NearBudgets<B> {
  add(budget: B): void;
  /** Takes out `budget`, the very object that was added. */
  remove(budget: B): void;
  /** All that may overlap with `budget`, and maybe others. */
  near(budget: B): Iterable<B>;
}

/** What {@link FormerBudgets} go by. */
export interface FormerBudgetPorts<B> {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Reports whether some pod may be governed by both, which are of one namespace. */
  mayOverlap(one: B, other: B): boolean;
  /** Reports whether both select by the same selector. */
  isSameSelector(one: B, other: B | undefined): boolean;
  /** Empty, and for those of the past alone. @default each of them is looked at */
  readonly former?: NearBudgets<B>;
}

interface Former<B> {
  readonly budget: B;
  /** When it was not so any more. */
  readonly since: Monotonic;
}

/** Budgets as they were until they changed or went, for as long as what was given away under them may still happen. */
export class FormerBudgets<B extends Selecting> {
  readonly #ports: FormerBudgetPorts<B>;
  /** The longest gone first. */
  readonly #all: Former<B>[] = [];
  /** When budgets came to select what others may have given away, by uid, the longest ago first. */
  readonly #tookOver = new Map<string, Monotonic>();

  constructor(ports: FormerBudgetPorts<B>) {
    this.#ports = ports;
  }

  /** Notes that `budget` is not as it was, or not at all, from now on. */
  left(budget: B): void {
    const since = this.#ports.clock.monotonic();
    this.#forgetOld(since);
    // One that comes again, and leaves again, is another one.
    const former = { ...budget };
    this.#all.push({ budget: former, since });
    this.#ports.former?.add(former);
  }

  /** Notes that `budget` is as it is from now on, and was `before`, in addition to the others of `known`. */
  changed(budget: B | undefined, before: B | undefined, known: Iterable<B>): void {
    if (budget === undefined || this.#ports.isSameSelector(budget, before)) return;
    if (!this.precede(budget, known)) return;
    this.#tookOver.delete(budget.uid);
    this.#tookOver.set(budget.uid, this.#ports.clock.monotonic());
  }

  /** Returns when the selector of the budget `uid` was changed last to pods that another one may have given away. */
  tookOverAt(uid: string): Monotonic | undefined {
    return this.#tookOver.get(uid);
  }

  /** Reports whether another budget of `known`, or one of the last 120 s, may have given away what `budget` selects. */
  precede(budget: B, known: Iterable<B>): boolean {
    this.#forgetOld(this.#ports.clock.monotonic());
    for (const each of known) if (this.#mayHaveGiven(each, budget)) return true;
    const former = this.#ports.former?.near(budget) ?? this.#all.map((each) => each.budget);
    for (const each of former) if (this.#mayHaveGiven(each, budget)) return true;
    return false;
  }

  #mayHaveGiven(other: B, budget: B): boolean {
    return (
      other.name !== budget.name &&
      other.namespace === budget.namespace &&
      this.#ports.mayOverlap(other, budget)
    );
  }

  #forgetOld(now: Monotonic): void {
    const kept = this.#all.findIndex(({ since }) => now - since <= evictionLife);
    for (const { budget } of this.#all.splice(0, kept < 0 ? this.#all.length : kept)) {
      this.#ports.former?.remove(budget);
    }
    for (const [uid, at] of this.#tookOver) {
      if (now - at <= evictionLife) return;
      this.#tookOver.delete(uid);
    }
  }
}
