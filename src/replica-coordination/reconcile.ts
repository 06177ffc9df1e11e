import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Instant, Millis } from '#base/units.ts';
import type { CallPod, Plan, Scale } from '#control/decision/decision.ts';
import { because } from '#control/decision/refs.ts';
import type { Carrying, GroupCapability, Need } from '#control/plan/group-capability.ts';
import type { GroupMoment } from '#control/plan/group-moment.ts';
import { idlePlan } from '#control/plan/group-plan.ts';
import type { WatchedPods } from '#control/watch/watched-pods.ts';
import type { ScaleWrites } from '#control/write/scale-writes.ts';
import { isGivenUp } from '#control/write/unless-sent.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { isRequestFailure } from '#kubernetes/transport/api-error.ts';
import { parseGroupKey } from '#statefulset/group.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { preparationUse } from './delayed-downscale/plan-delay.ts';
import { PreparationNotes } from './delayed-downscale/preparation-notes.ts';
import type { PodPreparations } from './delayed-downscale/prepare-pods.ts';
import { LabelNotice } from './label-notice.ts';
import { CoordinationObserver } from './observe.ts';
import { isCoordinated, planCoordination } from './plan.ts';
import type { References } from './references/references.ts';
import { holdForOpen, holdForUnseen } from './scale/open-writes.ts';
import { WritePaces } from './scale/write-pace.ts';
import { ScaleWriter } from './scale/write-scale.ts';

/** What coordinating the replicas of a group goes through. */
export interface CoordinationPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly writes: ScaleWrites;
  readonly watched: WatchedPods;
  readonly references: References;
  readonly preparations: PodPreparations;
  /** How long a pod is not ready without a break before that alone makes it stuck; undefined: never. */
  readonly stuckAfter: Millis | undefined;
  /** Name of the ConfigMap of zone-tracker mode; undefined when it is off (D-23). */
  readonly zoneTracker: string | undefined;
  /** How soon a read that failed is repeated. */
  readonly retry: Millis;
  /** Has the group `key` planned again. */
  wake(key: string): void;
}

/**
 * Coordinates the replicas of a group: leaders, references and force are looked at, and at most one set is scaled at a
 * time (SC-1). What fails here is never a failure of the pass, and the rollout goes on (SC-3); after a write it waits.
 */
export class ReplicaCoordination implements GroupCapability {
  readonly name = 'scaling';
  /** Takes the snapshots that are planned. */
  readonly observer: CoordinationObserver;
  readonly #ports: CoordinationPorts;
  readonly #paces = new WritePaces();
  readonly #writer: ScaleWriter;
  readonly #notes: PreparationNotes;
  readonly #labels: LabelNotice;

  constructor(ports: CoordinationPorts) {
    this.#ports = ports;
    this.#labels = new LabelNotice(ports.log);
    this.#writer = new ScaleWriter({ ...ports, paces: this.#paces });
    this.#notes = new PreparationNotes(ports);
    this.observer = new CoordinationObserver({ ...ports, notes: this.#notes, paces: this.#paces });
    ports.statefulSets.onChange(({ kind, object: { uid } }) => {
      if (kind !== 'deleted') return;
      ports.preparations.forget(uid);
      this.#notes.forget(uid);
      ports.writes.forget(uid);
      this.observer.forgetSet(uid);
    });
  }

  forget(key: string): void {
    this.observer.release(key);
  }

  prepare({ key, sets }: GroupMoment): Need | undefined {
    this.#paces.sweep(this.#ports.clock.monotonic());
    this.#notes.sweep();
    this.#labels.look(sets);
    if (!isCoordinated(sets)) {
      this.observer.release(key);
      return undefined;
    }
    return {
      what: 'the scale of a mirrored resource',
      fulfil: (signal) => this.#tolerant(key, this.observer.refresh(key, sets, signal), signal),
    };
  }

  plan(moment: GroupMoment): Plan {
    const { key, sets, now, monotonic } = moment;
    const { writes } = this.#ports;
    const views = sets.map(({ set }) => set);
    // Also where nothing is coordinated any more: nothing must overtake our own write (rule 4).
    const unseen = writes.unseen(views);
    if (unseen !== undefined) {
      const { hold, until } = holdForUnseen(unseen, { now, at: monotonic });
      return withRequeue({ ...idlePlan, decisions: hold === undefined ? [] : [hold] }, until);
    }
    const plan = isCoordinated(sets)
      ? planCoordination(this.observer.snapshotOf(key, moment), now)
      : idlePlan;
    return plan.decisions.some(isScale) ? plan : this.#withOpen(views, plan);
  }

  endsPass({ sets }: GroupMoment, { decisions }: Plan): boolean {
    const { writes } = this.#ports;
    const views = sets.map(({ set }) => set);
    return (
      decisions.some(isScale) || writes.unseen(views) !== undefined || writes.open(views).size > 0
    );
  }

  needs(moment: GroupMoment, plan: Plan): Need | undefined {
    const { key, sets } = moment;
    if (!isCoordinated(sets)) return undefined;
    const { zoneTracker } = this.observer.snapshotOf(key, moment);
    const isAsked = plan.decisions.some(
      (decision) => decision.kind === 'hold' && decision.because.reason === 'LastDownscaleUnknown',
    );
    if (zoneTracker.kind !== 'unread' || !isAsked) return undefined;
    const name = this.#ports.zoneTracker ?? '';
    return {
      what: `ConfigMap "${name}"`,
      fulfil: (signal) => this.#tolerant(key, this.observer.readZoneTracker(key, signal), signal),
      unmet: because('LastDownscaleUnknown', `ConfigMap "${name}" could not be read in time`),
    };
  }

  write(
    plan: Plan,
    carrying: Carrying,
    signal: AbortSignal,
  ): Promise<'written' | 'outrun'> | undefined {
    const scale = plan.decisions.find(isScale);
    return scale === undefined ? undefined : this.#scale({ scale, plan }, carrying, signal);
  }

  finish(plan: Plan, carrying: Carrying, signal: AbortSignal): Promise<void> | undefined {
    this.#callPods(plan, carrying, signal);
    const isWriting = plan.decisions.some(
      ({ kind }) => kind === 'write-back' || kind === 'note-prepared',
    );
    return isWriting ? this.#writeRest(plan, carrying, signal) : undefined;
  }

  async #writeRest(plan: Plan, carrying: Carrying, signal: AbortSignal): Promise<void> {
    await this.#writeBack(plan, carrying, signal);
    for (const decision of plan.decisions) {
      if (decision.kind === 'note-prepared') await this.#notes.write(decision, signal);
    }
  }

  async #scale(
    { scale, plan }: { readonly scale: Scale; readonly plan: Plan },
    carrying: Carrying,
    signal: AbortSignal,
  ): Promise<'written' | 'outrun'> {
    this.#callPods(plan, carrying, signal);
    const written = await this.#writer.write(scale, carrying, signal);
    // What is reported counts the scaling as done: where it was not, the next plan says what to report.
    if (written === 'scaled') await this.#writeBack(plan, carrying, signal);
    return written === 'outdated' ? 'outrun' : 'written';
  }

  /** Makes the calls of `plan`; what earlier plans asked for, and is of no use any more, is ended. */
  #callPods({ decisions }: Plan, { sets }: Carrying, signal: AbortSignal): void {
    const { preparations } = this.#ports;
    preparations.retain(sets.map(({ set }) => preparationUse(set)));
    const calls = decisions.filter((each): each is CallPod => each.kind === 'call-pod');
    if (calls.length === 0) return;
    for (const { set } of sets) {
      const own = calls.filter((call) => call.set.uid === set.uid);
      preparations.start(set, own, signal);
    }
  }

  async #writeBack(plan: Plan, { tell }: Carrying, signal: AbortSignal): Promise<void> {
    for (const decision of plan.decisions) {
      if (decision.kind !== 'write-back') continue;
      const isStored = await this.#ports.references.writeBack(decision, signal);
      if (isStored) tell(decision.set, decision.because);
    }
  }

  /** Reads that fail are reported and leave what they were to find out unknown, which holds what needs it (SC-3). */
  async #tolerant(key: string, reading: Promise<void>, signal: AbortSignal): Promise<void> {
    try {
      await reading;
    } catch (error) {
      if (!isRequestFailure(error) || isGivenUp(error, signal)) throw error;
      const { group } = parseGroupKey(key);
      this.#ports.log.warn('scaling step failed', { group, err: error });
    }
  }

  /** Returns the plan without more work on the group while a request without an answer may lower the replicas of a set (D-7). */
  #withOpen(sets: readonly StatefulSetView[], plan: Plan): Plan {
    const hold = holdForOpen(sets, this.#ports.writes.open(sets));
    if (hold === undefined) return plan;
    const isSaid = plan.decisions.some(
      (each) => each.set.uid === hold.set.uid && each.because.reason === hold.because.reason,
    );
    const decisions = isSaid ? plan.decisions : [...plan.decisions, hold];
    return withRequeue({ ...plan, decisions }, hold.until);
  }
}

function isScale(decision: Plan['decisions'][number]): decision is Scale {
  return decision.kind === 'scale';
}

/** Returns the plan, looked at again by `at` at the latest. */
function withRequeue(plan: Plan, at: Instant | undefined): Plan {
  if (at === undefined || (plan.requeue.kind === 'at' && plan.requeue.at <= at)) return plan;
  return { ...plan, requeue: { kind: 'at', at } };
}
