/** How much of a long table of tests a run takes: a share of each class in the gate, all of it in the night. */

/** Whether this run takes everything: `TEST_EXTENT=whole`, as `npm run nightly` sets it. */
export const isWhole = process.env['TEST_EXTENT'] === 'whole';

/** What share of a table the gate takes. */
export interface Share<T> {
  /** One in so many of each class, at least one; an integer from 1. */
  readonly oneIn: number;
  /** What belongs together: no class goes without. */
  readonly classOf: (item: T) => string;
  /** Where several tables have the same classes, each takes its turn: every `of`-th class from `at` on, from 0. @default all */
  readonly turn?: { readonly at: number; readonly of: number };
}

/** Returns all `items` where the run takes everything, else the share of each class; in their order. */
export function gateShare<T>(items: readonly T[], share: Share<T>): readonly T[] {
  return isWhole ? items : shareOf(items, share);
}

/** Returns one in so many of each class of `items`, in their order; each class begins elsewhere, so that not only firsts are taken. */
export function shareOf<T>(items: readonly T[], share: Share<T>): readonly T[] {
  const { oneIn, classOf, turn = { at: 0, of: 1 } } = share;
  const classes = new Map<string, T[]>();
  for (const item of items) {
    const name = classOf(item);
    classes.set(name, [...(classes.get(name) ?? []), item]);
  }
  const taken = new Set<T>();
  for (const [at, members] of [...classes.values()].entries()) {
    if (at % turn.of !== turn.at) continue;
    const step = Math.min(oneIn, members.length);
    for (const [index, member] of members.entries()) {
      if (index % step === at % step) taken.add(member);
    }
  }
  return items.filter((item) => taken.has(item));
}

/** Returns the numbers from 1 to `last` where the run takes everything, else one in `oneIn`, from `first` on; integers from 1. */
export function gateNumbers(last: number, oneIn: number, first = 1): readonly number[] {
  const all = Array.from({ length: last }, (_, index) => index + 1);
  return isWhole ? all : all.filter((number) => number >= first && (number - first) % oneIn === 0);
}
