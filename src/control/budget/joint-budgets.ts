import { type Monotonic, monotonic } from '#base/units.ts';
import type { Permission } from '#disruption/decision/permission.ts';
import type { BudgetProof } from './budget-sight.ts';
import type { GroupBudgets, WantedDisruption } from './group-budgets.ts';

/** From what is no obstacle to what has to be reported first. */
const byStrictness: readonly Permission['kind'][] = [
  'ungoverned',
  'given',
  'to-ask',
  'refused',
  'unclear',
];

/** Returns the permission that counts where each of `all` must allow a disruption, the first of equal ones; `ungoverned` of none. */
export function strictestOf(all: readonly Permission[]): Permission {
  return all.reduce<Permission>(
    (least, each) =>
      byStrictness.indexOf(each.kind) > byStrictness.indexOf(least.kind) ? each : least,
    { kind: 'ungoverned' },
  );
}

/**
 * Returns budgets of two kinds as one: a pod goes where both let it. None is asked to store anything for a pod as long as the
 * other is known to refuse it.
 */
export function jointBudgets(one: GroupBudgets, other: GroupBudgets): GroupBudgets {
  const both = [one, other] as const;
  return {
    proof: (key) => olderOf(one.proof(key), other.proof(key)),
    look: async (key, signal) => {
      await Promise.all(both.map((each) => each.look(key, signal)));
    },
    judge: (wanted, now) => {
      const others = other.judge(wanted, now);
      return one.judge(wanted, now).map((each, at) => strictestOf([each, others[at] ?? each]));
    },
    ask: async (wanted: readonly WantedDisruption[], signal) => {
      await Promise.all(both.map((each) => each.ask(wanted, signal)));
    },
    wants: (key, uids) => {
      for (const each of both) each.wants(key, uids);
    },
    follow: (underWay) => {
      for (const each of both) each.follow(underWay);
    },
  };
}

/** What is no part of the view is not waited for. */
function olderOf(one: BudgetProof, other: BudgetProof): BudgetProof {
  if (one.kind === 'unproven' || other.kind === 'unproven') return { kind: 'unproven' };
  const times = [one, other].flatMap((each): readonly Monotonic[] =>
    each.kind === 'proven' ? [each.provenAt] : [],
  );
  if (times.length === 0) return { kind: 'not-permitted' };
  return { kind: 'proven', provenAt: monotonic(Math.min(...times)) };
}
