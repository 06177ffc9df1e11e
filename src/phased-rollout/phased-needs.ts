import { StaleBasisError } from '#control/basis.ts';
import { nextToGo } from './let-go.ts';
import { isProven, takesPods } from './phased-approval.ts';
import { type PhasedMoment, type PhasedMomentPorts, scopeOf, wantedOf } from './phased-moment.ts';
import type { HeldReason, PhasedDecision, PhasedPlan, PhasedReason } from './plan-decision.ts';

type Need = (signal: AbortSignal) => Promise<void>;

/** Why a pod does not go that is to go. */
const heldReasons: ReadonlySet<PhasedReason> = new Set<HeldReason>([
  'AwaitingPredecessor',
  'AwaitingAnswer',
  'ViewNotFresh',
  'BudgetRefused',
  'BudgetUnclear',
  'RequestRefused',
]);
/** How often one pass has the view proven before it gives up for now. */
const mostReads = 3;

/** What one pass over a PhasedRollout has to see to before it acts. */
export class PhasedNeeds {
  readonly #key: string;
  readonly #ports: PhasedMomentPorts;
  #reads = 0;
  #hasCredentials = false;

  constructor(key: string, ports: PhasedMomentPorts) {
    this.#key = key;
    this.#ports = ports;
  }

  /**
   * What has to be read or reserved before `plan` may be acted on; undefined when nothing has. Also notes what is wanted away.
   *
   * @throws StaleBasisError when the view is still not proven although it was read a few times
   */
  of(moment: PhasedMoment, plan: PhasedPlan): Need | undefined {
    this.#want(moment, plan);
    const need = this.#missing(moment, plan);
    if (this.#reads > mostReads) throw new StaleBasisError(Number.POSITIVE_INFINITY);
    return need;
  }

  #missing(moment: PhasedMoment, plan: PhasedPlan): Need | undefined {
    const { credentials, reads, budgets } = this.#ports;
    const { rollout, snapshot } = moment;
    const { spec } = snapshot.resource;
    if (spec.kind === 'invalid') return undefined;
    const { targetRef, query } = spec.value;
    const { namespace } = rollout;
    if (query.secretRef !== undefined && !this.#hasCredentials && isAsking(plan)) {
      this.#hasCredentials = true;
      const secret = query.secretRef;
      if (!credentials.isFresh(namespace, secret)) {
        return (signal) => credentials.read(namespace, secret, signal);
      }
    }
    if (!plan.decisions.some((each) => takesPods(each, moment))) return undefined;
    if (isProven(moment)) return this.#reservationOf(moment, plan);
    this.#reads += 1;
    const wish = { pods: true, statefulSets: true };
    const cached = snapshot.target === undefined ? [] : [snapshot.target.set];
    return async (signal) => {
      await Promise.all([
        reads.read(scopeOf(namespace, targetRef), { wish, cached }, signal),
        budgets.look(this.#key, signal),
      ]);
    };
  }

  /** A pod goes under a budget once its reservation is stored. */
  #reservationOf(
    { permission, snapshot: { target } }: PhasedMoment,
    plan: PhasedPlan,
  ): Need | undefined {
    const isLowered = plan.decisions.some(({ kind }) => kind === 'set-partition');
    const pod = target === undefined ? undefined : nextToGo(target);
    if (permission?.kind !== 'to-ask' || !isLowered || pod === undefined) return undefined;
    this.#reads += 1;
    return (signal) => this.#ports.budgets.ask([wantedOf(pod)], signal);
  }

  /** Also what is held is still wanted: what is given for it is taken back only when it is not. */
  #want({ snapshot: { target } }: PhasedMoment, plan: PhasedPlan): void {
    const pod = target === undefined ? undefined : nextToGo(target);
    const isWanted = plan.decisions.some(
      ({ kind, because }) => kind === 'set-partition' || heldReasons.has(because.reason),
    );
    const uids = pod !== undefined && isWanted ? [pod.uid] : [];
    this.#ports.budgets.wants(this.#key, new Set(uids));
  }
}

function isAsking({ decisions }: PhasedPlan): boolean {
  return decisions.some((each) => each.kind === 'ask' || isUnaskable(each));
}

/** Whether it is that Prometheus cannot be asked. */
export function isUnaskable({ because }: PhasedDecision): boolean {
  return because.reason === 'PrometheusConfigError';
}
