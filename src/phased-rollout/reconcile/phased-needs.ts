import { SecretReads } from '#check/credentials/credentials.ts';
import { StaleBasisError } from '#control/consistent-read/basis.ts';
import { setHeldReasons } from '#control/plan/set-holds.ts';
import { isProven } from '#control/plan/set-proof.ts';
import { namedScope } from '#control/resource/resource-moment.ts';
import { OverruledError } from '#control/write/pod-deletions.ts';
import type { PhasedDecision, PhasedPlan, PhasedReason } from '../plan/plan-decision.ts';
import { gateQueries } from '../spec/gate-queries.ts';
import { asksBudgets, takesPods } from './phased-approval.ts';
import { type PhasedMoment, type PhasedMomentPorts, wantedOf } from './phased-moment.ts';

type Need = (signal: AbortSignal) => Promise<void>;

/** Why a pod does not go that is to go. */
const heldReasons: ReadonlySet<PhasedReason> = new Set(setHeldReasons);
/** How often one pass has the view proven before it gives up for now. */
const mostReads = 3;

/** What one pass over a PhasedRollout has to see to before it acts. */
export class PhasedNeeds {
  readonly #key: string;
  readonly #ports: PhasedMomentPorts;
  #reads = 0;
  #asks = 0;
  readonly #secrets: SecretReads;

  constructor(key: string, ports: PhasedMomentPorts) {
    this.#key = key;
    this.#ports = ports;
    this.#secrets = new SecretReads(ports.credentials);
  }

  /**
   * Returns what has to be read or reserved before `plan` may be acted on; undefined when nothing has. Also notes what is
   * wanted away.
   *
   * @throws StaleBasisError when the view is still not proven although it was read a few times, OverruledError when
   * the budget has to be asked ever again
   */
  of(moment: PhasedMoment, plan: PhasedPlan): Need | undefined {
    this.#want(moment, plan);
    const need = this.#missing(moment, plan);
    if (this.#reads > mostReads) throw new StaleBasisError(Number.POSITIVE_INFINITY);
    if (this.#asks > mostReads) {
      throw new OverruledError('Cannot let a pod go as the ledger of its budget kept changing');
    }
    return need;
  }

  #missing(moment: PhasedMoment, plan: PhasedPlan): Need | undefined {
    const { reads, budgets } = this.#ports;
    const { rollout, snapshot } = moment;
    const { spec } = snapshot.resource;
    if (spec.kind === 'invalid') return undefined;
    const { targetRef } = spec.value;
    const { namespace } = rollout;
    if (isAsking(plan)) {
      const { secrets } = gateQueries(spec.value);
      const missing = this.#secrets.missing(namespace, secrets);
      if (missing !== undefined) return missing;
    }
    if (!plan.decisions.some((each) => takesPods(each, moment))) return undefined;
    if (isProven(moment.proof, moment.monotonic)) return this.#reservationOf(moment, plan);
    this.#reads += 1;
    const wish = { pods: true, statefulSets: true };
    const cached = snapshot.target === undefined ? [] : [snapshot.target.set];
    return async (signal) => {
      await Promise.all([
        reads.read(namedScope(namespace, targetRef), { wish, cached }, signal),
        budgets.look(this.#key, signal),
      ]);
    };
  }

  /** Returns the reservation that a pod under a budget needs before it goes. */
  #reservationOf({ permission, next }: PhasedMoment, plan: PhasedPlan): Need | undefined {
    if (permission?.kind !== 'to-ask' || next === undefined) return undefined;
    if (!plan.decisions.some(asksBudgets)) return undefined;
    this.#asks += 1;
    return (signal) => this.#ports.budgets.ask([wantedOf(next)], signal);
  }

  /** Also what is held is still wanted: what is given for it is taken back only when it is not. */
  #want({ next }: PhasedMoment, plan: PhasedPlan): void {
    const isWanted = plan.decisions.some(
      (each) => asksBudgets(each) || heldReasons.has(each.because.reason),
    );
    const uids = next !== undefined && isWanted ? [next.uid] : [];
    this.#ports.budgets.wants(this.#key, new Set(uids));
  }
}

function isAsking({ decisions }: PhasedPlan): boolean {
  return decisions.some((each) => each.kind === 'ask' || isUnaskable(each));
}

/** Reports whether it is that Prometheus cannot be asked. */
export function isUnaskable({ because }: PhasedDecision): boolean {
  return because.reason === 'PrometheusConfigError';
}
