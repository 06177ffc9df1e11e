import type { Because } from '#base/because.ts';
import { after, type Instant, seconds } from '#base/units.ts';
import type { Permission } from '#disruption/decision/permission.ts';
import { parseOrdinal } from '#statefulset/parse-ordinal.ts';
import type { PodView } from '#statefulset/view.ts';
import type { GroupBudgets, WantedDisruption } from '../budget/group-budgets.ts';
import type { Decision, DeletePod, Plan, Scale } from '../decision/decision.ts';
import type { Reason } from '../decision/reasons.ts';
import { because } from '../decision/refs.ts';
import type { GroupMoment } from './group-moment.ts';
import { sooner } from './group-plan.ts';
import { withHeldBack } from './held-back.ts';

/** A decision that takes pods away, and which. */
interface Taking {
  readonly decision: DeletePod | Scale;
  readonly wanted: readonly WantedDisruption[];
}

interface Judged extends Taking {
  /** One for each of the pods. */
  readonly permissions: readonly Permission[];
}

/** Decisions of a plan that wait for a reservation, each with the pods that it is for. */
export type Unpermitted = ReadonlyMap<Decision, readonly WantedDisruption[]>;

/** A plan without what budgets refuse. */
export interface GovernedPlan {
  readonly plan: Plan;
  /** What no budget is known to refuse, and none has permitted yet. */
  readonly unpermitted: Unpermitted;
}

/** What is refused may be allowed by something that is not seen here, such as a permission that a user did not use. */
const lookAgainAfter = seconds(10);

/**
 * Returns `plan` as the budgets of this instant have it: a deletion that they refuse is left out, with the reason where no
 * other of its set is left; a scaling waits as a whole.
 */
export function governedPlan(plan: Plan, moment: GroupMoment, budgets: GroupBudgets): GovernedPlan {
  const takings = takingsOf(plan, moment);
  if (takings.length === 0) return { plan, unpermitted: new Map() };
  const permissions = budgets
    .judge(
      takings.flatMap(({ wanted }) => wanted),
      moment.now,
    )
    .values();
  const judged = takings.map(({ decision, wanted }) => ({
    decision,
    wanted,
    permissions: wanted.flatMap(() => permissions.next().value ?? []),
  }));
  const refused = judged.flatMap((each) => refusalOf(each) ?? []);
  const lacking = judged.filter(({ permissions: all }) =>
    all.some(({ kind }) => kind === 'to-ask'),
  );
  return {
    plan: withRefusals(plan, refused, moment),
    unpermitted: new Map(lacking.map(({ decision, wanted }) => [decision, wanted])),
  };
}

/** Returns the pods that `plan` takes away. */
export function wantedPods(plan: Plan, moment: GroupMoment): readonly PodView[] {
  return takingsOf(plan, moment).flatMap(({ wanted }) => wanted.map(({ pod }) => pod));
}

/** Returns what of `unpermitted` is still to be done by `plan`. */
export function lackingIn(
  { decisions }: Plan,
  unpermitted: Unpermitted,
): readonly WantedDisruption[] {
  if (unpermitted.size === 0) return [];
  return decisions.flatMap((decision) => unpermitted.get(decision) ?? []);
}

/** Returns the pods that one scaling or deletion takes; of a pod that is stuck nothing is taken. */
function takingsOf(plan: Plan, moment: GroupMoment): readonly Taking[] {
  return plan.decisions.flatMap((decision): readonly Taking[] => {
    if (decision.kind === 'delete-pod' && decision.costs === 'a-slot') {
      return [{ decision, wanted: deleted(decision, moment) }];
    }
    if (decision.kind === 'scale' && decision.takes > 0) {
      return [{ decision, wanted: scaledDown(decision, moment) }];
    }
    return [];
  });
}

function deleted(
  { set, pod: { uid }, maxUnavailable }: DeletePod,
  { sets }: GroupMoment,
): readonly WantedDisruption[] {
  const pods = sets.find((each) => each.set.uid === set.uid)?.pods ?? [];
  const pod = pods.find((each) => each.uid === uid);
  return pod === undefined ? [] : [{ pod, by: 'rollout', maxUnavailable }];
}

/** A scale-down takes several slots at once, and they count for the exclusion of other zones only (D-17). */
function scaledDown({ set, to }: Scale, { sets }: GroupMoment): readonly WantedDisruption[] {
  const found = sets.find((each) => each.set.uid === set.uid);
  if (found === undefined) return [];
  const end = found.set.spec.ordinalsStart + to;
  return found.pods
    .filter(({ name, isTerminating }) => {
      const ordinal = parseOrdinal(name, set.name);
      return ordinal !== undefined && ordinal >= end && !isTerminating;
    })
    .map((pod) => ({ pod, by: 'scale-down', maxUnavailable: 1 }));
}

interface Refused {
  readonly decision: DeletePod | Scale;
  /** The pod that it is about, or the first of them. */
  readonly pod: string;
  readonly why: Because<Reason>;
  readonly until: Instant | undefined;
}

/** What a budget refuses, or cannot decide, holds the whole decision; what cannot be known is said first. */
function refusalOf({ decision, wanted, permissions }: Judged): Refused | undefined {
  const unclear = permissions.findIndex(({ kind }) => kind === 'unclear');
  const at = unclear < 0 ? permissions.findIndex(({ kind }) => kind === 'refused') : unclear;
  const against = permissions[at];
  if (against?.kind !== 'unclear' && against?.kind !== 'refused') return undefined;
  const why = because(
    against.kind === 'unclear' ? 'BudgetUnclear' : 'BudgetRefused',
    against.message,
  );
  return { decision, pod: wanted[at]?.pod.name ?? '', why, until: against.until };
}

function withRefusals(plan: Plan, refused: readonly Refused[], { now }: GroupMoment): Plan {
  if (refused.length === 0) return plan;
  const held = new Set<Decision>(refused.map(({ decision }) => decision));
  let left = plan;
  for (const [uid, ofSet] of bySet(refused)) {
    const isLeft = plan.decisions.some(
      (each) =>
        each.kind === 'delete-pod' &&
        each.costs === 'a-slot' &&
        each.set.uid === uid &&
        !held.has(each),
    );
    left = isLeft ? without(left, ofSet) : withHeldBack(left, heldBack(ofSet));
  }
  const at = after(now, lookAgainAfter);
  const unclear = refused.find(({ why }) => why.reason === 'BudgetUnclear');
  return {
    ...left,
    requeue: sooner(left.requeue, { kind: 'at', at }),
    // What a person has to mend counts as a failure of the pass (ME-11); a refusal does not.
    failure: left.failure ?? unclear?.why.message,
  };
}

function bySet(refused: readonly Refused[]): ReadonlyMap<string, readonly Refused[]> {
  return Map.groupBy(refused, ({ decision }) => decision.set.uid);
}

function without(plan: Plan, refused: readonly Refused[]): Plan {
  const held = new Set<Decision>(refused.map(({ decision }) => decision));
  return { ...plan, decisions: plan.decisions.filter((decision) => !held.has(decision)) };
}

/** How many pods are named. */
const named = 3;

function namesOf(refused: readonly Refused[]): string {
  const names = refused.slice(0, named).map(({ pod }) => pod);
  const more = refused.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}

/** One hold for all that is refused of a set: each cause once, with the pods that it keeps. */
function heldBack(refused: readonly Refused[]): Parameters<typeof withHeldBack>[1] {
  const decisions = new Set<Decision>(refused.map(({ decision }) => decision));
  const isUnclear = refused.some(({ why }) => why.reason === 'BudgetUnclear');
  const byCause = Map.groupBy(refused, ({ why }) => why.message);
  const messages = [...byCause].map(([cause, all]) => `${namesOf(all)} may not go: ${cause}`);
  const ends = refused.flatMap(({ until }) => until ?? []);
  const until = ends.length < refused.length ? undefined : ends.toSorted((a, b) => a - b)[0];
  return {
    keepsBack: (decision) => decisions.has(decision),
    because: because(isUnclear ? 'BudgetUnclear' : 'BudgetRefused', messages.join('; ')),
    until,
  };
}
