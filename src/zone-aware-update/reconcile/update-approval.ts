import { type Basis, StaleBasisError } from '#control/consistent-read/basis.ts';
import type { DeletePod } from '#control/decision/decision.ts';
import { basisOf } from '#control/plan/set-proof.ts';
import { OverruledError } from '#control/write/pod-deletions.ts';
import type { PodView } from '#statefulset/view.ts';
import type { BegunStep } from '../snapshot.ts';
import {
  isProvenMoment,
  type UpdateMoment,
  type UpdateMomentPorts,
  updateMomentOf,
} from './update-moment.ts';

/** What approving a deletion at the instant of its sending goes through. */
export interface UpdateApprovalPorts extends UpdateMomentPorts {
  /** Whether this process may disrupt at this instant: it holds the Lease, or there is none. */
  readonly leads: () => boolean;
  /** The term of the Lease; absent where there is none. */
  readonly term?: string;
}

/** A deletion that may leave now. */
export interface Approved {
  readonly basis: Basis;
  /** The pod as it goes. */
  readonly pod: PodView;
}

/**
 * Plans again, exactly when `wanted` would leave as a part of the step `begun`, and says what it rests on (D-49).
 *
 * @throws OverruledError when the new plan does not have it, StaleBasisError when its view is not proven
 */
export function approve(
  wanted: DeletePod,
  { key, begun }: { readonly key: string; readonly begun: BegunStep },
  ports: UpdateApprovalPorts,
): Approved {
  // Also after a pause of the process, however long: the present holder of the Lease is the one to plan.
  if (!ports.leads()) throw new OverruledError('Cannot delete as the Lease is no longer held');
  const moment = updateMomentOf(key, ports, begun);
  const pod = moment?.snapshot.target?.pods.find(({ uid }) => uid === wanted.pod.uid);
  if (moment === undefined || pod === undefined || !isPlanned(wanted, moment)) {
    throw new OverruledError(`Cannot delete what is no longer to go: ${wanted.pod.name}`);
  }
  requireProof(moment);
  const at = moment.wanted.findIndex((each) => each.pod.uid === pod.uid);
  if (moment.permissions[at]?.kind === 'to-ask') {
    throw new OverruledError('Cannot delete a pod, as its budget no longer permits it');
  }
  return { basis: basisOf(moment.proof, moment.monotonic, ports.term), pod };
}

/**
 * Throws where the view is not proven.
 *
 * @throws StaleBasisError where the resource, the set and its pods, or their zones, may not be as they are shown
 */
function requireProof(moment: UpdateMoment): void {
  if (isProvenMoment(moment)) return;
  throw new StaleBasisError(Number.POSITIVE_INFINITY);
}

function isPlanned({ pod }: DeletePod, { plan }: UpdateMoment): boolean {
  return plan.decisions.some(
    (each) =>
      each.kind === 'delete-pod' &&
      each.pod.uid === pod.uid &&
      each.pod.resourceVersion === pod.resourceVersion,
  );
}
