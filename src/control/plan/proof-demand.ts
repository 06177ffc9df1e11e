import { type Millis, type Monotonic, millis, monotonic, seconds } from '#base/units.ts';
import { maxDecisionAge, type TypeBasis } from '../consistent-read/basis.ts';
import type { ReadWish } from '../consistent-read/consistent-reads.ts';
import { isDisruptive, type Plan } from '../decision/decision.ts';
import type { OpenDisruptions } from '../write/open-disruptions.ts';
import type { Refusals } from '../write/refusals.ts';
import type { ScaleWrites } from '../write/scale-writes.ts';
import type { GroupMoment } from './group-moment.ts';
import type { PredecessorWait } from './predecessor-wait.ts';

/** Types whose view is not proven as a plan demands. */
export interface Unproven extends ReadWish {
  readonly budgets: boolean;
}

/** What says how new a view must be besides the time. */
export interface DemandPorts {
  readonly open: OpenDisruptions;
  readonly refusals: Refusals;
  readonly predecessor: PredecessorWait;
  readonly writes: Pick<ScaleWrites, 'podsAfter'>;
}

/** Where one type has to be read, others that will have to be within this time are read with it. */
const foresight: Millis = seconds(5);

const always = monotonic(Number.NEGATIVE_INFINITY);

/** Reports whether `plan` takes available pods away, so that it must rest on a view that is proven fresh (D-3). */
export function disrupts(plan: Plan): boolean {
  return plan.decisions.some(isDisruptive);
}

/**
 * Returns the types of the view that are not proven to be as new as the disruptions of `plan` demand: proven by a request
 * that was sent at most 10 s ago, after we last lowered a count of it, after the server last said that its world had moved, after a
 * pod was noticed that was made just like one that we took (REV-3), and after this process began to lead, as an older view may lack
 * what its predecessor did last. Undefined when all are.
 */
export function unprovenFor(
  plan: Plan,
  moment: GroupMoment,
  ports: DemandPorts,
): Unproven | undefined {
  const lacking = lackingAt(millis(0), { plan, moment, ports });
  const isProven = !lacking.pods && !lacking.statefulSets && !lacking.budgets;
  return isProven ? undefined : lackingAt(foresight, { plan, moment, ports });
}

interface Question {
  readonly plan: Plan;
  readonly moment: GroupMoment;
  readonly ports: DemandPorts;
}

function lackingAt(margin: Millis, { plan, moment, ports }: Question): Unproven {
  const { proof, monotonic: now } = moment;
  const since = Math.max(
    now - maxDecisionAge + margin,
    madeAgainSince(plan, now, ports.open),
    ports.refusals.outrunAt(moment.key) ?? always,
    ports.predecessor.neededSince,
  );
  const isOld = (basis: Pick<TypeBasis, 'provenAt'> | undefined): boolean =>
    basis === undefined || basis.provenAt < since;
  const { budgets } = proof;
  return {
    pods: isOld(proof.pods) || !showsLowered(moment, ports.writes),
    statefulSets: isOld(proof.statefulSets),
    budgets: budgets.kind === 'unproven' || (budgets.kind === 'proven' && isOld(budgets)),
  };
}

/** Reports whether the pods were seen after what we last lowered: a set that shrinks is seen before its pods go. */
function showsLowered({ proof, sets }: GroupMoment, writes: DemandPorts['writes']): boolean {
  const provenAt = proof.pods?.provenAt ?? always;
  return sets.every(({ set }) => provenAt >= (writes.podsAfter(set) ?? always));
}

function madeAgainSince({ decisions }: Plan, now: Monotonic, open: OpenDisruptions): Monotonic {
  let latest = always;
  for (const decision of decisions) {
    if (decision.kind !== 'delete-pod') continue;
    const since = open.madeAgainSince(decision.pod, now);
    if (since !== undefined && since > latest) latest = since;
  }
  return latest;
}
