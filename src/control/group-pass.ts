import type { Because } from '#base/because.ts';
import { millis } from '#base/units.ts';
import type { GroupBudgets } from './budget/group-budgets.ts';
import type { Basis } from './consistent-read/basis.ts';
import { isUnclearView } from './consistent-read/view-error.ts';
import {
  type Decision,
  type DeletePod,
  isDisruptive,
  type Plan,
  type Scale,
  type SetRef,
} from './decision/decision.ts';
import type { Reason } from './decision/reasons.ts';
import { because } from './decision/refs.ts';
import { type PassRequestPorts, PassRequests } from './pass-requests.ts';
import { type ApprovalPorts, approve, lookWith } from './plan/approval.ts';
import type { Carrying, GroupCapability } from './plan/group-capability.ts';
import {
  type GroupMoment,
  hasUnavailable,
  type MomentPorts,
  momentOf,
} from './plan/group-moment.ts';
import { type GroupPlan, idlePlan, planGroup } from './plan/group-plan.ts';
import { type GroupHoldPorts, heldPlan, withHolds } from './plan/hold-plan.ts';
import { type Look, partsOf } from './plan/look.ts';
import { isWritten, permittedLook, writesOf } from './plan/permitted-look.ts';
import { governedPlan, wantedPods } from './plan/plan-permissions.ts';
import { ledger, needsOf, type SecurePorts, signOfLife } from './plan/secure-plan.ts';
import type { PassResult } from './run-controller.ts';
import type { NewSets } from './watch/new-sets.ts';
import type { EndedDeletion, PodDeletions } from './write/pod-deletions.ts';
import { isGivenUp } from './write/unless-sent.ts';

/** What a pass came to. */
export interface GroupPassEnd {
  readonly result: PassResult;
  /** The request that failed; undefined when none did. */
  readonly error?: Error;
  /** What was begun, and what is waited for, as of the last look. */
  readonly plan: Plan;
  /** What was decided on, and written, before the last look. */
  readonly written: readonly Decision[];
  /** Whether the end of this process broke it off: its last look was still to be acted on, and says nothing. */
  readonly isBrokenOff?: true;
}

/** What passes go through. */
export interface PassPorts
  extends MomentPorts,
    SecurePorts,
    GroupHoldPorts,
    PassRequestPorts,
    Omit<ApprovalPorts, 'look'> {
  /** Listed in the order in which they work on a group. */
  readonly capabilities: readonly GroupCapability[];
  readonly budgets: GroupBudgets;
  /** Sets that no earlier process can have disrupted. */
  readonly newSets: Pick<NewSets, 'areAll'>;
  readonly deletions: PodDeletions;
  /** Tells people one thing that was done. */
  tell(set: SetRef, why: Because<Reason>): void;
  /** A deletion that was begun has ended. */
  readonly deletionEnded: (key: string, ended: EndedDeletion) => void;
}

/**
 * How often one pass may find out that something has to be read or written first. Each ends its own need, so that more
 * are a fault, or a world that moves faster than it can be looked at.
 */
const maxRounds = 16;

/**
 * How long a pass waits for pods that are on their way back before it asks a ledger: those that went together come back
 * within some milliseconds of one another, and share one write then.
 */
const gatheringTime = millis(30);

/**
 * One pass over a group: look (read the caches, plan), see to what the plan needs, look again, until nothing is missing;
 * then send, at the same instant. After every wait it looks again: what was planned before is not acted on (D-49).
 */
export class GroupPass {
  readonly #key: string;
  readonly #ports: PassPorts;
  readonly #requests: PassRequests;
  #hasGathered = false;
  /** The plan of the last look. */
  #plan: Plan = idlePlan;
  readonly #written: Decision[] = [];

  constructor(key: string, ports: PassPorts) {
    this.#key = key;
    this.#ports = ports;
    this.#requests = new PassRequests(key, ports);
  }

  /** Returns the group as it is now, and what is done about it. Synchronous, without effect. */
  look(): Look {
    const moment = momentOf(this.#key, this.#ports);
    return this.#held(moment, planGroup(moment, this.#ports.capabilities));
  }

  #held(moment: GroupMoment, planned: GroupPlan): Look {
    const plan = withHolds(planned.whole, moment, this.#ports);
    return { moment, planned, ...governedPlan(plan, moment, this.#ports.budgets) };
  }

  /** Brings the group as far as it may go now. @throws a fault of this program, or a view that cannot be trusted (D-6) */
  async run(signal: AbortSignal): Promise<GroupPassEnd> {
    try {
      await this.#prepare(signal);
      for (let round = 0; round < maxRounds; round += 1) {
        const look = this.#look();
        const end = await this.#advance(look, signal);
        if (end !== undefined) return end;
      }
      return this.#outrun();
    } catch (error) {
      if (isUnclearView(error)) {
        return this.#outrun(heldPlan(this.#plan, because('ViewNotFresh', error.message)));
      }
      // What the end of this process, or of its lease, broke off has not failed: the successor looks again.
      if (isGivenUp(error, signal)) {
        const end = this.#end(this.#plan, { kind: 'ended', requeue: { kind: 'await-change' } });
        return { ...end, isBrokenOff: true };
      }
      throw error;
    }
  }

  /** Does one step from `seen`; undefined when the group has to be looked at again. */
  async #advance(seen: Look, signal: AbortSignal): Promise<GroupPassEnd | undefined> {
    const { passedOver } = this.#requests;
    const look = permittedLook(seen, { ...this.#ports, passedOver });
    this.#plan = look.plan;
    const missing = needsOf(look, this.#ports, (name) => passedOver.has(name));
    if (missing !== undefined) {
      const mayGather = missing.of === ledger && !this.#hasGathered;
      if (mayGather && hasUnavailable(look.moment)) return this.#gather();
      const unmet = await this.#requests.seeTo(missing, signal);
      return unmet === undefined ? undefined : this.#outrun(heldPlan(look.plan, unmet));
    }
    const writing = this.#write(look, signal);
    if (writing !== undefined) return (await writing) === 'outrun' ? this.#outrun() : undefined;
    await this.#send(look, signal);
    const { plan } = look;
    return this.#end(plan, { kind: 'ended', requeue: plan.requeue });
  }

  async #gather(): Promise<undefined> {
    this.#hasGathered = true;
    await this.#ports.clock.sleep(gatheringTime, { owner: 'pods that come back together' });
  }

  #end(plan: Plan, result: PassResult): GroupPassEnd {
    const { error } = this.#requests;
    return { plan, written: this.#written, result, ...(error !== undefined && { error }) };
  }

  #outrun(plan = this.#plan): GroupPassEnd {
    return this.#end(plan, { kind: 'retry', retryAfter: undefined });
  }

  /** Returns a look that rests on all that the capabilities prepared. */
  #look(): Look {
    const moment = momentOf(this.#key, this.#ports);
    const planned = planGroup(moment, this.#ports.capabilities);
    const isNew = this.#ports.newSets.areAll(moment.sets);
    this.#ports.predecessor.see(moment, { plan: planned.whole, isNew });
    // Also what is held for another reason: it is still wanted, and taken back only when it is not.
    const wanted = wantedPods(planned.whole, moment).map(({ uid }) => uid);
    this.#ports.budgets.wants(this.#key, new Set(wanted));
    const look = this.#held(moment, planned);
    this.#plan = look.plan;
    return look;
  }

  async #prepare(signal: AbortSignal): Promise<void> {
    const sign = signOfLife(this.look(), this.#ports);
    if (sign !== undefined) await this.#requests.await(sign, signal);
    for (const capability of this.#ports.capabilities) {
      const need = capability.prepare?.(momentOf(this.#key, this.#ports));
      if (need !== undefined) await this.#requests.await(need, signal);
    }
  }

  /** Begins the first write of `look` that has to be answered before anything else is done; undefined when none has. */
  #write(look: Look, signal: AbortSignal): Promise<'outrun' | undefined> | undefined {
    for (const { capability, plan } of partsOf(look)) {
      const writing = capability.write?.(plan, this.#carrying(look), signal);
      if (writing === undefined) continue;
      this.#written.push(...plan.decisions.filter(isWritten));
      return this.#requests.answered(writesOf(capability.name), writing, signal);
    }
    return undefined;
  }

  async #send(look: Look, signal: AbortSignal): Promise<void> {
    const { deletions, deletionEnded } = this.#ports;
    const wanted = look.plan.decisions.filter((decision) => decision.kind === 'delete-pod');
    deletions.begin(
      wanted,
      {
        key: this.#key,
        approve: (deletion) => this.#approve(deletion),
        ended: (ended) => deletionEnded(this.#key, ended),
      },
      signal,
    );
    for (const { capability, plan } of partsOf(look)) {
      const finishing = capability.finish?.(plan, this.#carrying(look), signal);
      if (finishing !== undefined) await this.#requests.named(finishing);
    }
  }

  #carrying({ moment }: Look): Carrying {
    return {
      key: this.#key,
      sets: moment.sets,
      tell: (set, why) => this.#ports.tell(set, why),
      approve: (scale) => (isDisruptive(scale) ? this.#approve(scale) : this.#contained(scale)),
    };
  }

  #approve(wanted: DeletePod | Scale): Basis {
    return approve(wanted, { ...this.#ports, look: () => this.look() });
  }

  #contained(wanted: Scale): undefined {
    lookWith(wanted, { ...this.#ports, look: () => this.look() });
  }
}
