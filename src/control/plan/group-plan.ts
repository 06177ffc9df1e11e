import type { Plan, Requeue } from '../decision/decision.ts';
import type { GroupCapability } from './group-capability.ts';
import type { GroupMoment } from './group-moment.ts';

/** The plan of one capability. */
export interface PlanPart {
  readonly capability: GroupCapability;
  readonly plan: Plan;
}

/** What all capabilities do about a group at one instant. */
export interface GroupPlan {
  readonly parts: readonly PlanPart[];
  /** All of them together. */
  readonly whole: Plan;
}

/** Plans the group of `moment`: each capability in turn, until one changes what the others would have to see (D-18). */
export function planGroup(
  moment: GroupMoment,
  capabilities: readonly GroupCapability[],
): GroupPlan {
  const parts: PlanPart[] = [];
  for (const capability of capabilities) {
    const plan = capability.plan(moment);
    parts.push({ capability, plan });
    if (capability.endsPass?.(moment, plan) === true) break;
  }
  return { parts, whole: merged(parts.map(({ plan }) => plan)) };
}

/** A plan that does nothing and waits for nothing. */
export const idlePlan: Plan = Object.freeze<Plan>({
  decisions: [],
  requeue: { kind: 'await-change' },
  failure: undefined,
  progress: [],
});

/** The last part speaks first: what came before it and let it go on is no obstacle to it. */
function merged(plans: readonly Plan[]): Plan {
  const [first, ...rest] = plans.toReversed();
  if (first === undefined) return idlePlan;
  if (rest.length === 0) return first;
  const all = [first, ...rest];
  return {
    decisions: all.flatMap(({ decisions }) => decisions),
    requeue: rest.reduce((soonest, { requeue }) => sooner(soonest, requeue), first.requeue),
    failure: all.find(({ failure }) => failure !== undefined)?.failure,
    progress: all.flatMap(({ progress }) => progress),
  };
}

/** Returns the earlier of two looks. */
export function sooner(one: Requeue, other: Requeue): Requeue {
  if (one.kind === 'await-change') return other;
  return other.kind === 'at' && other.at < one.at ? other : one;
}
