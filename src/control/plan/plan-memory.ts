import type { Decision, Plan } from '../decision/decision.ts';
import type { SetSnapshot } from '../watch/group-sets.ts';
import type { GroupMoment } from './group-moment.ts';

interface Kept {
  readonly moment: GroupMoment;
  readonly plan: Plan;
  /** uids of the pods that the plan takes. */
  readonly taken: ReadonlySet<string>;
}

/**
 * Remembers the last plan of each group. A plan depends on the group's objects and the time alone, so for the very same
 * objects it is the plan still, until the time for which it asked to be looked at again; and when nothing has changed but
 * that pods which it takes are leaving now, what it has left is the new plan (D-49).
 */
export class PlanMemory {
  readonly #byKey = new Map<string, Kept>();

  /** Returns the plan for `moment`, if it follows from an earlier one without planning; undefined when it does not. */
  find(moment: GroupMoment): Plan | undefined {
    const kept = this.#byKey.get(moment.key);
    if (kept === undefined || !areSame(kept.moment.sets, moment.sets)) return undefined;
    if (!haveSameConflicts(kept.moment, moment)) return undefined;
    return isDue(kept, moment) ? undefined : restOf(kept, moment);
  }

  /** Remembers `plan` as what `moment` leads to. */
  keep(moment: GroupMoment, plan: Plan): void {
    const taken = plan.decisions.flatMap((each) =>
      each.kind === 'delete-pod' ? [each.pod.uid] : [],
    );
    this.#byKey.set(moment.key, { moment, plan, taken: new Set(taken) });
  }

  /** Forgets the group `key`, which is gone. */
  forget(key: string): void {
    this.#byKey.delete(key);
  }
}

/** Reports whether the time has come at which the plan asked to be recreated; a wall clock that was set counts as that. */
function isDue({ moment: made, plan: { requeue } }: Kept, moment: GroupMoment): boolean {
  if (requeue.kind === 'await-change') return false;
  const span = requeue.at - made.now;
  const passed = moment.monotonic - made.monotonic;
  return passed >= span || moment.now >= requeue.at || moment.now < made.now;
}

function restOf({ moment: made, plan, taken }: Kept, { leaving }: GroupMoment): Plan | undefined {
  for (const uid of made.leaving) if (!leaving.has(uid)) return undefined;
  if (leaving.size === made.leaving.size) return plan;
  for (const uid of leaving) if (!made.leaving.has(uid) && !taken.has(uid)) return undefined;
  const isLeft = (decision: Decision): boolean =>
    decision.kind !== 'delete-pod' || !leaving.has(decision.pod.uid);
  const decisions = plan.decisions.filter(isLeft);
  // Once all are on their way there is something else to say: what is waited for.
  return decisions.some(({ kind }) => kind === 'delete-pod') ? { ...plan, decisions } : undefined;
}

function areSame(some: readonly SetSnapshot[], others: readonly SetSnapshot[]): boolean {
  return some.length === others.length && some.every((each, at) => isSame(each, others[at]));
}

function isSame(one: SetSnapshot, other: SetSnapshot | undefined): boolean {
  return one.set === other?.set && one.pods === other.pods && one.orphans === other.orphans;
}

function haveSameConflicts({ conflicts: some }: GroupMoment, { conflicts }: GroupMoment): boolean {
  if (some === conflicts) return true;
  if (some.size !== conflicts.size) return false;
  return [...some].every(([uid, names]) => names.join() === conflicts.get(uid)?.join());
}
