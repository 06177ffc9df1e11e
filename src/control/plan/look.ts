import type { Plan } from '../decision/decision.ts';
import type { GroupMoment } from './group-moment.ts';
import type { GroupPlan, PlanPart } from './group-plan.ts';
import type { Unpermitted } from './plan-permissions.ts';

/** A group at one instant, and what is done about it. */
export interface Look {
  readonly moment: GroupMoment;
  readonly planned: GroupPlan;
  /** All that is done, and what is held back for reasons that no capability knows. */
  readonly plan: Plan;
  /** What of it waits for a reservation. */
  readonly unpermitted: Unpermitted;
}

/** Returns what each capability may carry out: its plan without what is held back. */
export function partsOf({ planned, plan }: Look): readonly PlanPart[] {
  const kept = new Set(plan.decisions);
  return planned.parts.map(({ capability, plan: part }) => {
    const decisions = part.decisions.filter((decision) => kept.has(decision));
    return { capability, plan: { ...part, decisions } };
  });
}
