import type { Because } from '#base/because.ts';
import { after, type Monotonic, millis } from '#base/units.ts';
import type { Decision, Plan } from './decision.ts';
import type { GroupMoment } from './group-moment.ts';
import { type GroupPlan, type PlanPart, sooner } from './group-plan.ts';
import type { Reason } from './reasons.ts';

/** A group in one moment, and what is done about it. */
export interface Look {
  readonly moment: GroupMoment;
  readonly planned: GroupPlan;
  /** All that is done, and what is held back for reasons that no capability knows. */
  readonly plan: Plan;
}

/** What is not done of a look, and why. */
export interface HeldBack {
  readonly keepsBack: (decision: Decision) => boolean;
  readonly because: Because<Reason>;
  /** When that ends by itself; absent: a change ends it. */
  readonly until?: Monotonic;
}

/** What each capability may carry out: its plan without what is held back. */
export function partsOf({ planned, plan }: Look): readonly PlanPart[] {
  const kept = new Set(plan.decisions);
  return planned.parts.map(({ capability, plan: part }) => {
    const decisions = part.decisions.filter((decision) => kept.has(decision));
    return { capability, plan: { ...part, decisions } };
  });
}

/** `look` with one hold in place of all that is kept back, and looked at again when that is over; all else goes on. */
export function withHeldBack(look: Look, { keepsBack, because, until }: HeldBack): Look {
  const { moment, plan } = look;
  const kept = plan.decisions.filter(keepsBack);
  const at = until === undefined ? undefined : after(moment.now, millis(until - moment.monotonic));
  const timed = at === undefined ? {} : { until: at };
  const requeue = at === undefined ? plan.requeue : sooner(plan.requeue, { kind: 'at', at });
  const [first] = kept;
  if (first === undefined) return { ...look, plan: { ...plan, requeue } };
  const hold: Decision = { kind: 'hold', set: first.set, because, ...timed };
  // A report of replicas counts the scaling as done that is planned with it.
  const isScaled = kept.some(({ kind }) => kind === 'scale');
  const rest = plan.decisions.filter(
    (decision) => !keepsBack(decision) && !(isScaled && decision.kind === 'write-back'),
  );
  return { ...look, plan: { ...plan, decisions: [hold, ...rest], requeue } };
}
