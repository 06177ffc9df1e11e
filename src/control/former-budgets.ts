import type { Clock } from '#base/clock.ts';
import type { Monotonic } from '#base/units.ts';
import { evictionLife } from '#disruption/release.ts';

/** A budget as far as it matters who governed what before it. */
interface Selecting {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** What {@link FormerBudgets} go by. */
export interface FormerBudgetPorts<B> {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Whether some pod may be governed by both, which are of one namespace. */
  mayOverlap(one: B, other: B): boolean;
  /** Whether both select by the same selector. */
  isSameSelector(one: B, other: B | undefined): boolean;
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
  #all: readonly Former<B>[] = [];
  /** When budgets came to select what others may have given away, by uid. */
  readonly #tookOver = new Map<string, Monotonic>();

  constructor(ports: FormerBudgetPorts<B>) {
    this.#ports = ports;
  }

  /** `budget` is not as it was, or not at all, from now on. */
  left(budget: B): void {
    const since = this.#ports.clock.monotonic();
    this.#all = [...this.#recent(since), { budget, since }];
    for (const [uid, at] of this.#tookOver) {
      if (since - at > evictionLife) this.#tookOver.delete(uid);
    }
  }

  /** `budget` is as it is from now on, and was `before`, beside the others of `known`. */
  changed(budget: B | undefined, before: B | undefined, known: readonly B[]): void {
    if (budget === undefined || this.#ports.isSameSelector(budget, before)) return;
    if (this.precede(budget, known)) this.#tookOver.set(budget.uid, this.#ports.clock.monotonic());
  }

  /** When the selector of the budget `uid` was changed last to pods that another one may have given away. */
  tookOverAt(uid: string): Monotonic | undefined {
    return this.#tookOver.get(uid);
  }

  /** Whether another budget of `known`, or one of the last 120 s, may have given away what `budget` selects. */
  precede(budget: B, known: readonly B[]): boolean {
    const former = this.#recent(this.#ports.clock.monotonic()).map((each) => each.budget);
    return [...known, ...former].some(
      (each) =>
        each.name !== budget.name &&
        each.namespace === budget.namespace &&
        this.#ports.mayOverlap(each, budget),
    );
  }

  #recent(now: Monotonic): readonly Former<B>[] {
    return this.#all.filter(({ since }) => now - since <= evictionLife);
  }
}
