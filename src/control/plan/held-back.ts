import type { Because } from '#base/because.ts';
import type { Instant } from '#base/units.ts';
import type { Decision, Plan, SetRef } from '../decision/decision.ts';
import type { Reason } from '../decision/reasons.ts';
import { sooner } from './group-plan.ts';

/** A decision to wait. */
export type Hold = Extract<Decision, { kind: 'hold' }>;

/** What is not done of a plan, and why. */
export interface HeldBack extends Pick<Hold, 'because'> {
  /** When it ends by itself. @default a change ends it */
  readonly until?: Instant | undefined;
  readonly keepsBack: (decision: Decision) => boolean;
}

/** Returns `plan` with one hold in place of all that is kept back, and looked at again when that is over; all else goes on. */
export function withHeldBack(plan: Plan, { keepsBack, because, until }: HeldBack): Plan {
  const requeue =
    until === undefined ? plan.requeue : sooner(plan.requeue, { kind: 'at', at: until });
  const kept = plan.decisions.filter(keepsBack);
  const [first] = kept;
  if (first === undefined) return { ...plan, requeue };
  // A report of replicas counts the scaling as done that is planned with it.
  const isScaled = kept.some(({ kind }) => kind === 'scale');
  const rest = plan.decisions.filter(
    (decision) => !keepsBack(decision) && !(isScaled && decision.kind === 'write-back'),
  );
  return { ...plan, decisions: [holdOf(first.set, because, until), ...rest], requeue };
}

/** Returns a hold of `set`. @param until when it ends by itself; absent: a change ends it */
export function holdOf(set: SetRef, why: Because<Reason>, until?: Instant): Hold {
  const hold: Hold = { kind: 'hold', set, because: why };
  return until === undefined ? hold : { ...hold, until };
}
