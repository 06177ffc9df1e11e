import type { LetGoPods } from '#control/budget/let-go-pods.ts';
import { type Basis, StaleBasisError } from '#control/consistent-read/basis.ts';
import type { PodRef } from '#control/decision/decision.ts';
import { basisOf, isProven } from '#control/plan/set-proof.ts';
import { OverruledError } from '#control/write/pod-deletions.ts';
import { isDisruptive, type RolloutAction } from '../plan/plan-decision.ts';
import {
  type Decided,
  type RolloutMoment,
  type RolloutMomentPorts,
  rolloutMomentOf,
} from './rollout-moment.ts';
import { letGoBy } from './unpinned-pod.ts';

/** What approving a request at the instant of its sending goes through. */
export interface RolloutApprovalPorts extends RolloutMomentPorts {
  /** Whether this process may disrupt at this instant: it holds the Lease, or there is none. */
  readonly leads: () => boolean;
  /** Pods that partitions let go. */
  readonly letGo: LetGoPods;
  /** The term of the Lease; absent where there is none. */
  readonly term?: string;
}

/** What is asked for approval: of which resource, and decided on what state of it. */
export interface Asking {
  readonly key: string;
  readonly decided: Decided;
  readonly ports: RolloutApprovalPorts;
}

/**
 * Plans again, exactly when `pod` would be made to leave, and says what that rests on (D-49).
 *
 * @throws OverruledError when the new plan does not have it, StaleBasisError when its view is not proven
 */
export function approvePod(
  kind: 'evict' | 'delete-pods',
  pod: PodRef,
  { key, decided, ports }: Asking,
): Basis {
  const moment = momentOf({ key, decided, ports });
  const { action } = moment.plan;
  const isPlanned = action?.kind === kind && action.pods.some(({ uid }) => uid === pod.uid);
  if (!isPlanned) throw new OverruledError(`Cannot let ${pod.name} go, which is no longer to go`);
  if (!isProven(moment.proof, moment.monotonic)) {
    throw new StaleBasisError(Number.POSITIVE_INFINITY);
  }
  return basisOf(moment.proof, moment.monotonic, ports.term);
}

/**
 * Plans again, exactly when a write of the set would leave.
 *
 * @throws OverruledError when the new plan does not have it, StaleBasisError when the resource is not proven to be as it is
 * shown, or pods may go by it and the view of them is not
 */
export function approveWrite(action: RolloutAction, asking: Asking): void {
  const { plan, proof, monotonic, unpinned } = momentOf(asking);
  if (!isSameWrite(plan.action, action)) {
    throw new OverruledError(`Cannot send what is no longer wanted: ${action.kind}`);
  }
  if (isDisruptive(action) && !isProven(proof, monotonic)) {
    throw new StaleBasisError(Number.POSITIVE_INFINITY);
  }
  const pod = letGoBy(action, unpinned);
  if (pod === undefined) return;
  if (unpinned.permission?.kind === 'to-ask') {
    throw new OverruledError(`Cannot let ${pod.name} go, as its budget no longer permits it`);
  }
  asking.ports.letGo.sent(pod);
}

/** Of numbers it counts which: how many pods may go, or are wanted, is for the last look to say. */
function isSameWrite(planned: RolloutAction | undefined, action: RolloutAction): boolean {
  if (planned?.kind !== action.kind) return false;
  if (planned.kind === 'scale-set' && action.kind === 'scale-set') {
    return planned.scale.to === action.scale.to;
  }
  const isMove = planned.kind === 'set-partition' && action.kind === 'set-partition';
  return !isMove || (planned.to === action.to && planned.revision === action.revision);
}

function momentOf({ key, decided, ports }: Asking): RolloutMoment {
  // Also after a pause of the process, however long: the replica that holds the Lease now is the one to plan.
  if (!ports.leads()) throw new OverruledError('Cannot write as the Lease is no longer held');
  const moment = rolloutMomentOf(key, ports, decided);
  if (moment === undefined) throw new OverruledError('Cannot write as the resource is gone');
  // A user may have paused it since, or deleted it.
  if (!ports.proofs.isProven(moment.rollout, moment.monotonic)) {
    throw new StaleBasisError(Number.POSITIVE_INFINITY);
  }
  return moment;
}
