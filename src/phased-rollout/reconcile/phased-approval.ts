import { isDeepStrictEqual } from 'node:util';
import type { LetGoPods } from '#control/budget/let-go-pods.ts';
import { type Basis, StaleBasisError } from '#control/consistent-read/basis.ts';
import { basisOf, isProven } from '#control/plan/set-proof.ts';
import { OverruledError } from '#control/write/pod-deletions.ts';
import type { PhasedDecision } from '../plan/plan-decision.ts';
import { planPhasedRollout } from '../plan.ts';
import type { LiftedGates } from './lifted-gates.ts';
import { type PhasedMoment, type PhasedMomentPorts, phasedMomentOf } from './phased-moment.ts';

/** What approving a request at the instant of its sending goes through. */
export interface ApprovalPorts extends PhasedMomentPorts {
  readonly letGo: LetGoPods;
  /** Whether this process may disrupt at this instant: it holds the Lease, or there is none. */
  readonly leads: () => boolean;
  /** The term of the Lease; absent where there is none. */
  readonly term?: string;
}

/**
 * Plans again, exactly when `wanted` would leave, and says what it rests on (D-49).
 *
 * @throws OverruledError when the new plan does not have it, StaleBasisError when its view is not proven
 */
export function approve(wanted: PhasedDecision, key: string, ports: ApprovalPorts): Basis {
  // Also after a pause of the process, however long: the present holder of the Lease is the one to plan.
  if (!ports.leads()) throw new OverruledError('Cannot write as the Lease is no longer held');
  const moment = phasedMomentOf(key, ports);
  if (moment === undefined || !isPlanned(wanted, moment)) {
    throw new OverruledError(`Cannot send what is no longer wanted: ${wanted.kind}`);
  }
  const takes = takesPods(wanted, moment);
  if (takes) requireProof(wanted, moment);
  if (takes && wanted.kind === 'set-partition') noteSent(moment, ports.letGo);
  if (!takes && letsGo(wanted)) noteLifted(wanted, moment, ports.lifted);
  return basisOf(moment.proof, moment.monotonic, ports.term);
}

/**
 * Throws what keeps the request back.
 *
 * @throws StaleBasisError where the view is not proven, OverruledError where a budget does not permit it any more
 */
function requireProof(wanted: PhasedDecision, moment: PhasedMoment): void {
  if (!isProven(moment.proof, moment.monotonic))
    throw new StaleBasisError(Number.POSITIVE_INFINITY);
  if (moment.permission?.kind !== 'to-ask' || !asksBudgets(wanted)) return;
  throw new OverruledError('Cannot let a pod go, as its budget no longer permits it');
}

function noteSent({ next }: PhasedMoment, pods: LetGoPods): void {
  if (next !== undefined) pods.sent(next);
}

/** Another request may follow before this one takes effect, if it does: its version says which of them still can. */
function noteLifted(
  wanted: PhasedDecision,
  { snapshot: { target, former } }: PhasedMoment,
  lifted: LiftedGates,
): void {
  const isSuspension = wanted.kind === 'set-partition' && wanted.because.reason === 'Suspended';
  if (!isSuspension && wanted.kind !== 'release') return;
  const { uid } = wanted.set;
  const found = [...(target === undefined ? [] : [target]), ...former].find(
    ({ set }) => set.uid === uid,
  );
  if (found === undefined) return;
  lifted.sent(uid, { from: found.set.spec.partition, revision: wanted.revision });
}

/** Reports whether the pod that goes by `decision` may be governed by a budget; a pod that is stuck costs none. */
export function asksBudgets(decision: PhasedDecision): boolean {
  if (decision.kind === 'delete-pod') return decision.because.reason === 'RollingBack';
  return decision.kind === 'set-partition';
}

function isPlanned(wanted: PhasedDecision, { snapshot, now }: PhasedMoment): boolean {
  return planPhasedRollout(snapshot, now).decisions.some((each) => isSame(each, wanted));
}

function isSame(one: PhasedDecision, other: PhasedDecision): boolean {
  if (one.kind === 'delete-pod' && other.kind === 'delete-pod') {
    return one.pod.uid === other.pod.uid && one.pod.resourceVersion === other.pod.resourceVersion;
  }
  // A condition of the world in words may have changed, what is done has not.
  const { because: _, ...what } = one;
  const { because: __, ...wanted } = other;
  return isDeepStrictEqual(what, wanted);
}

/** Reports whether `decision` lowers what blocks updates, so that pods may roll by it. */
export function letsGo(decision: PhasedDecision): boolean {
  if (decision.kind === 'set-partition') return decision.to < decision.from;
  return decision.kind === 'release' && decision.drops !== 'nothing';
}

/**
 * Reports whether `decision` takes pods away on our own account, so that it must rest on a view that is proven: what a user
 * lifted the gate of does not.
 */
export function takesPods(decision: PhasedDecision, { snapshot }: PhasedMoment): boolean {
  if (decision.kind === 'delete-pod') return true;
  if (decision.kind !== 'set-partition' || decision.because.reason === 'Suspended') return false;
  const replicas = snapshot.target?.set.spec.replicas ?? 0;
  return decision.to < Math.min(decision.from, replicas);
}
