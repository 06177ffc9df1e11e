import { type Basis, StaleBasisError } from '#control/basis.ts';
import type { PodRef } from '#control/decision.ts';
import { OverruledError } from '#control/pod-deletions.ts';
import { basisOf, isProven } from '#control/set-proof.ts';
import type { RolloutAction } from './plan-decision.ts';
import {
  type Decided,
  type RolloutMoment,
  type RolloutMomentPorts,
  rolloutMomentOf,
} from './rollout-moment.ts';

/** What approving a request in the moment of its sending goes through. */
export interface RolloutApprovalPorts extends RolloutMomentPorts {
  /** Whether this process may disrupt in this very moment: it holds the Lease, or there is none. */
  readonly leads: () => boolean;
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
 * Plans anew, in the moment in which `pod` would be made to leave, and says what that rests on (D-49).
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
  if (!isPlanned)
    throw new OverruledError(`Cannot let ${pod.name} go, which is not to go any more`);
  if (!isProven(moment.proof, moment.monotonic)) {
    throw new StaleBasisError(Number.POSITIVE_INFINITY);
  }
  return basisOf(moment.proof, moment.monotonic, ports.term);
}

/** Plans anew, in the moment in which a write of the set would leave. @throws OverruledError when the new plan does not have it */
export function approveWrite(kind: RolloutAction['kind'], asking: Asking): void {
  const { plan } = momentOf(asking);
  if (plan.action?.kind === kind) return;
  throw new OverruledError(`Cannot send what is not wanted any more: ${kind}`);
}

function momentOf({ key, decided, ports }: Asking): RolloutMoment {
  // Also after a pause of the process, however long: whoever holds the Lease now is the one to plan.
  if (!ports.leads()) throw new OverruledError('Cannot write as the Lease is not held any more');
  const moment = rolloutMomentOf(key, ports, decided);
  if (moment === undefined) throw new OverruledError('Cannot write as the resource is gone');
  return moment;
}
