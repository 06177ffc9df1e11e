import { StaleBasisError } from '#control/consistent-read/basis.ts';
import { isProven, type WholeProof } from '#control/plan/set-proof.ts';
import { OverruledError } from '#control/write/pod-deletions.ts';
import { isDisruptive, isLowering, type RolloutAction } from '../plan/plan-decision.ts';
import { isVersionNeeded } from '../plan/plan-pin-switch.ts';
import { type RolloutMoment, type RolloutMomentPorts, specOf } from './rollout-moment.ts';
import { letGoBy, unpinning } from './unpinned-pod.ts';
import { readTarget } from './view-renewal.ts';

type Need = (signal: AbortSignal) => Promise<void>;

/** How often one pass has the view proven, or asks budgets, before it gives up for now. */
const mostReads = 3;

/** What one pass over a StatefulsetRollout has to see to before it acts. */
export class RolloutNeeds {
  readonly #key: string;
  readonly #ports: RolloutMomentPorts;
  #reads = 0;
  #asks = 0;

  constructor(key: string, ports: RolloutMomentPorts) {
    this.#key = key;
    this.#ports = ports;
  }

  /**
   * Returns what has to be read or reserved before the plan of `moment` may be acted on; undefined where nothing has. Also notes the
   * pod that is wanted away by a partition.
   *
   * @throws StaleBasisError when the view is still not proven although it was read a few times, OverruledError when the budget has to
   * be asked ever again
   */
  of(moment: RolloutMoment): Need | undefined {
    const { rollout, plan, proof, monotonic, snapshot, unreadRevisions } = moment;
    const { ages, version, zoneBudgets } = this.#ports;
    zoneBudgets.wants(this.#key, wantedBy(moment));
    if (isVersionNeeded(snapshot)) return (signal) => version.read(signal);
    if (unreadRevisions.length > 0) {
      return (signal) => ages.read(rollout.namespace, unreadRevisions, signal);
    }
    const spec = specOf(rollout);
    if (spec === undefined) return undefined;
    if (isKnown(plan.action, proof, monotonic)) return this.#reservationOf(moment);
    this.#reads += 1;
    if (this.#reads > mostReads) throw new StaleBasisError(Number.POSITIVE_INFINITY);
    const { namespace } = rollout;
    const set = { namespace, name: spec.set.name };
    return async (signal) => {
      await Promise.all([
        readTarget(set, this.#ports, signal),
        ...(isLowering(plan.action) ? [zoneBudgets.look(this.#key, signal)] : []),
      ]);
    };
  }

  /** Returns the reservation that a pod under a disruption budget needs before a partition lets it go. */
  #reservationOf({ plan, unpinned }: RolloutMoment): Need | undefined {
    const pod = letGoBy(plan.action, unpinned);
    if (pod === undefined || unpinned.permission?.kind !== 'to-ask') return undefined;
    this.#asks += 1;
    if (this.#asks > mostReads) {
      throw new OverruledError(
        `Cannot let ${pod.name} go as the ledger of its budget kept changing`,
      );
    }
    return (signal) => this.#ports.zoneBudgets.ask([unpinning(pod)], signal);
  }
}

/** Returns the uids of the pods that are wanted away by a partition, also while their budget holds them. */
function wantedBy({ plan, unpinned }: RolloutMoment): ReadonlySet<string> {
  const { next, governance } = unpinned;
  const isHeld = plan.action === undefined && plan.because === governance.hold?.because;
  const pod = isHeld ? next?.pod : letGoBy(plan.action, unpinned);
  return new Set(pod === undefined ? [] : [pod.uid]);
}

/** Whether enough is known to do `action`. */
function isKnown(
  action: RolloutAction | undefined,
  proof: WholeProof,
  monotonic: RolloutMoment['monotonic'],
): boolean {
  if (isDisruptive(action)) return isProven(proof, monotonic);
  if (action?.kind !== 'remove-finalizer') return true;
  // What the resource owns goes with it, and its watch may not show that set yet; pods are none of its own.
  return isProven({ ...proof, pods: proof.statefulSets }, monotonic);
}
