import { ageOf, type Basis, StaleBasisError } from '../consistent-read/basis.ts';
import type { Decision, DeletePod, Scale } from '../decision/decision.ts';
import type { OwnDisruptions } from '../write/own-disruptions.ts';
import { OverruledError } from '../write/pod-deletions.ts';
import { basisOf } from './group-moment.ts';
import type { Look } from './look.ts';
import { wantedPods } from './plan-permissions.ts';
import { type DemandPorts, unprovenFor } from './proof-demand.ts';

/** What approving a request at the instant of its sending goes through. */
export interface ApprovalPorts extends DemandPorts {
  readonly own: OwnDisruptions;
  /** Reports whether this process may disrupt at this instant: it holds the Lease, or there is none. */
  leads(): boolean;
  /** The term of the Lease in which requests leave; absent where there is no Lease. */
  readonly term?: string;
  /** Plans the group again, as it is now. */
  look(): Look;
}

/**
 * Plans again, and says what the new plan rests on if `wanted` is still a part of it (D-49).
 *
 * @throws OverruledError when it is not, or its budget does not permit it any more; StaleBasisError when its view is not fresh
 */
export function approve(wanted: DeletePod | Scale, ports: ApprovalPorts): Basis {
  const { moment, plan } = lookWith(wanted, ports);
  const basis = basisOf(moment);
  if (basis === undefined) throw new StaleBasisError(Number.POSITIVE_INFINITY);
  if (unprovenFor(plan, moment, ports) !== undefined) {
    throw new StaleBasisError(ageOf(basis, moment.monotonic));
  }
  if (wanted.kind === 'scale') {
    const { decisions, ...rest } = plan;
    const scale = decisions.filter(
      ({ kind, set }) => kind === 'scale' && set.uid === wanted.set.uid,
    );
    ports.own.scaled(wantedPods({ ...rest, decisions: scale }, moment), moment.monotonic);
  }
  const { term } = ports;
  return term === undefined ? basis : { ...basis, term };
}

/** Returns the group as it is now, whose plan has `wanted`. @throws OverruledError when it has not, or may not have it */
export function lookWith(
  wanted: DeletePod | Scale,
  ports: Pick<ApprovalPorts, 'leads' | 'look'>,
): Look {
  // Also after a pause of the process, however long: the present holder of the Lease is the one to plan.
  if (!ports.leads()) throw new OverruledError('Cannot write as the Lease is no longer held');
  const look = ports.look();
  const found = look.plan.decisions.find((decision) => isSameDisruption(decision, wanted));
  if (found !== undefined && !look.unpermitted.has(found)) return look;
  const subject =
    wanted.kind === 'delete-pod'
      ? `delete Pod "${wanted.pod.name}"`
      : `scale StatefulSet "${wanted.set.name}" to ${wanted.to}`;
  const why = found === undefined ? 'wanted any more' : 'permitted by its budget any more';
  throw new OverruledError(`Cannot ${subject} as that is not ${why}`);
}

function isSameDisruption(decision: Decision, wanted: DeletePod | Scale): boolean {
  if (decision.kind === 'delete-pod' && wanted.kind === 'delete-pod') {
    const { uid, resourceVersion } = wanted.pod;
    return decision.pod.uid === uid && decision.pod.resourceVersion === resourceVersion;
  }
  if (decision.kind !== 'scale' || wanted.kind !== 'scale') return false;
  const { set, from, to } = wanted;
  return decision.set.uid === set.uid && decision.from === from && decision.to === to;
}
