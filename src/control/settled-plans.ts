import type { Decision, Plan } from './decision.ts';
import type { SetSnapshot } from './group-sets.ts';

interface Settled {
  readonly sets: readonly SetSnapshot[];
  readonly plan: Plan;
}

/**
 * Remembers in which state of a group there was nothing to do and nothing to wait for: a plan depends on that state and
 * the time alone, so that the periodic look at the same sets and pods need not plan again. A plan that does anything is
 * never remembered.
 */
export class SettledPlans {
  readonly #byKey = new Map<string, Settled>();

  /** The plan of the group `key` if `sets` are the very ones that it was made of; undefined when they are not. */
  find(key: string, sets: readonly SetSnapshot[]): Plan | undefined {
    const settled = this.#byKey.get(key);
    return settled !== undefined && areSame(settled.sets, sets) ? settled.plan : undefined;
  }

  /** Remembers `plan` as what `sets` lead to, if it stays so for as long as they do. */
  keep(key: string, sets: readonly SetSnapshot[], plan: Plan): void {
    if (isSettled(plan)) this.#byKey.set(key, { sets, plan });
    else this.#byKey.delete(key);
  }

  /** The group `key` is gone. */
  forget(key: string): void {
    this.#byKey.delete(key);
  }
}

function isSettled({ decisions, requeue, outcome }: Plan): boolean {
  return (
    requeue.kind === 'await-change' && outcome.kind === 'succeeded' && decisions.every(isWarning)
  );
}

function isWarning({ kind }: Decision): boolean {
  return kind === 'warn';
}

function areSame(some: readonly SetSnapshot[], others: readonly SetSnapshot[]): boolean {
  return some.length === others.length && some.every((each, at) => isSame(each, others[at]));
}

function isSame(one: SetSnapshot, other: SetSnapshot | undefined): boolean {
  return one.set === other?.set && one.pods === other.pods && one.orphans === other.orphans;
}
