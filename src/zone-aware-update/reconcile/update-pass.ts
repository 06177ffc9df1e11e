import type { Because } from '#base/because.ts';
import { after, type Millis, millis, seconds } from '#base/units.ts';
import type { DeletePod, Requeue } from '#control/decision/decision.ts';
import { sooner } from '#control/plan/group-plan.ts';
import {
  awaitingOwnWrite,
  type EndedPass,
  type ResourcePassEnd,
  unansweredUntil,
} from '#control/resource/resource-pass.ts';
import { applyCurrentRevision } from '#control/write/apply-current-revision.ts';
import type { EndedDeletion } from '#control/write/pod-deletions.ts';
import type { UnseenWrites } from '#control/write/unseen-writes.ts';
import type { WriteAttempts } from '#control/write/write-attempts.ts';
import type { Client } from '#kubernetes/client.ts';
import { isConflict } from '#kubernetes/transport/api-error.ts';
import { progressOf, type UpdateView } from '../parse-resource.ts';
import type { UpdateDecision, UpdatePlan, UpdateReason } from '../plan/plan-decision.ts';
import { tellUpdate } from '../update-reasons.ts';
import { askGate, type GatePorts } from './ask-gate.ts';
import { deleteStep, type StepPorts } from './step-deletions.ts';
import { type UpdateMoment, updateMomentOf } from './update-moment.ts';
import { UpdateNeeds } from './update-needs.ts';
import type { UpdateWrites } from './update-writes.ts';

/** What passes go through. */
export interface UpdatePassPorts extends StepPorts, GatePorts {
  readonly client: Client;
  readonly writes: UpdateWrites;
  /** Writes of the current revision, by uid of the set. */
  readonly promotions: WriteAttempts<string, 'RevisionContested'>;
  readonly unseenSets: UnseenWrites;
  readonly unseenUpdates: UnseenWrites;
}

/** How a pass ended over a ZoneAwareUpdate that is there. */
export interface EndedUpdatePass extends EndedPass<UpdateView> {
  /** How the deletions of a step ended; absent where nothing was carried out. */
  readonly deletions?: readonly EndedDeletion[];
}

/** What a pass came to. */
export type UpdatePassEnd = ResourcePassEnd<UpdateView, EndedUpdatePass>;

type Of<K extends UpdateDecision['kind']> = Extract<UpdateDecision, { kind: K }>;

/** What an answer says that holds a step. */
const closedReasons: readonly UpdateReason[] = [
  'AlarmRings',
  'AlarmUnknown',
  'QueryFails',
  'QueryUnknown',
];

/** How long a write of another owner may be missing in its cache before that is looked into. */
const patience = seconds(10);

/**
 * One pass over a ZoneAwareUpdate: look, see to what the plan needs, look again, then act; the status is stored last, by how
 * many pods were really deleted.
 */
export class UpdatePass {
  readonly #key: string;
  readonly #ports: UpdatePassPorts;
  readonly #needs: UpdateNeeds;

  constructor(key: string, ports: UpdatePassPorts) {
    this.#key = key;
    this.#ports = ports;
    this.#needs = new UpdateNeeds(key, ports);
  }

  /**
   * Runs the pass.
   *
   * @throws what a request fails with, OverruledError or StaleBasisError where something may not be sent any more
   */
  async run(signal: AbortSignal): Promise<UpdatePassEnd> {
    for (;;) {
      const moment = updateMomentOf(this.#key, this.#ports);
      if (moment === undefined) return { kind: 'gone' };
      const unseen = this.#awaitingOwnWrite(moment);
      if (unseen !== undefined) return unseen;
      const need = this.#needs.of(moment);
      if (need === undefined) return this.#carryOut(moment, signal);
      await need(signal);
    }
  }

  #awaitingOwnWrite(moment: UpdateMoment): UpdatePassEnd | undefined {
    const { unseenSets, unseenUpdates } = this.#ports;
    const { update, snapshot } = moment;
    const { target } = snapshot;
    const writes = [unseenUpdates.of(update.uid), target && unseenSets.of(target.set.uid)];
    return awaitingOwnWrite(update, writes, moment);
  }

  async #carryOut(moment: UpdateMoment, signal: AbortSignal): Promise<UpdatePassEnd> {
    const { update, plan } = moment;
    const { decisions } = plan;
    for (const each of decisions) if (each.kind === 'ask') askGate(each, moment, this.#ports);
    const step = decisions.filter((each) => each.kind === 'delete-pod');
    const deletions = await this.#deleteStep(step, moment, signal);
    const ended = { kind: 'ended', resource: update, deletions } as const;
    const holds = holdsOf(plan);
    const promotion = decisions.find((each) => each.kind === 'set-current-revision');
    const pause = promotion && this.#pauseOf(promotion, moment);
    if (pause !== undefined) {
      const requeue = { kind: 'at', at: after(moment.now, pause.left) } as const;
      return { ...ended, holds: [...holds, pause.because], requeue };
    }
    const isPromoted = promotion === undefined || (await this.#promote(promotion, moment, signal));
    const requeue = isPromoted
      ? await this.#store(moment, deletions, signal)
      : ({ kind: 'at', at: after(moment.now, seconds(1)) } as const);
    const answers = unansweredUntil(moment.snapshot.target?.pods ?? [], this.#ports.open, moment);
    return { ...ended, holds, requeue: sooner(requeue, answers) };
  }

  /** Returns how long the current revision waits which another client keeps changing back. */
  #pauseOf(
    { set, to }: Of<'set-current-revision'>,
    { monotonic }: UpdateMoment,
  ): { readonly left: Millis; readonly because: Because<'RevisionContested'> } | undefined {
    const pause = this.#ports.promotions.of(set.uid, monotonic);
    if (pause === undefined || pause.to !== to) return undefined;
    return { left: millis(pause.until - monotonic), because: pause.because };
  }

  async #deleteStep(
    step: readonly Of<'delete-pod'>[],
    { update, plan }: UpdateMoment,
    signal: AbortSignal,
  ): Promise<readonly EndedDeletion[]> {
    if (step.length === 0) return [];
    const { log } = this.#ports;
    const { reason, message } = plan.progressing.because;
    log.info('step', { zoneawareupdate: update.name, reason, because: message });
    const parts = { key: this.#key, ports: this.#ports };
    const ended = await deleteStep(step.map(deletionOf), parts, signal);
    if (countOf(ended) > 0) tellUpdate(update, { reason, message }, this.#ports.events);
    return ended;
  }

  /** Has the set say which revision is current. @returns whether it says that now */
  async #promote(
    decision: Of<'set-current-revision'>,
    { monotonic: at }: UpdateMoment,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { client, log, unseenSets, promotions } = this.#ports;
    const because = { reason: 'ZoneUpdated', message: decision.because.message } as const;
    const outcome = await applyCurrentRevision({ ...decision, because }, client, signal);
    if (outcome.kind === 'outdated') return false;
    unseenSets.answered(decision.set.uid, outcome.revision);
    const { set, from, to } = decision;
    promotions.sweep(at);
    promotions.written({ key: set.uid, to, at }, (writes, wait) => {
      const message =
        `status.currentRevision of ${set.name} was set to ${to} ${writes} times, and another client changes it back to ${from}; ` +
        `it is written again after ${wait / 1000} s`;
      return { reason: 'RevisionContested', message };
    });
    log.info('updated the current revision', {
      statefulset: decision.set.name,
      new_current_revision: decision.to,
      old_current_revision: decision.from,
    });
    return true;
  }

  /** Stores the status. @returns when is looked again */
  async #store(
    moment: UpdateMoment,
    ended: readonly EndedDeletion[],
    signal: AbortSignal,
  ): Promise<Requeue> {
    const { update, plan, now } = moment;
    const wanted = { status: plan.statusAfter(countOf(ended)), progressing: plan.progressing };
    if (this.#isPassing(moment)) return plan.requeue;
    const { writes } = this.#ports;
    const missing = writes.missing(update, wanted, now);
    if (missing === undefined) return plan.requeue;
    const wait = writes.waitFor(update, missing, moment.monotonic);
    if (wait !== undefined) return sooner(plan.requeue, { kind: 'at', at: after(now, wait) });
    try {
      await writes.store(update, wanted, { now, signal });
    } catch (error) {
      if (!isConflict(error)) throw error;
      // What another client wrote is on its way, and wakes this; what is waited for is asked in time all the same.
      return sooner(plan.requeue, { kind: 'at', at: after(now, patience) });
    }
    const { because } = plan.progressing;
    const isEnd = because.reason === 'Updated' && update.status.updateStep > 0;
    if (isEnd) tellUpdate(update, because, this.#ports.events);
    return plan.requeue;
  }

  /** Reports whether alarm and query are being asked again: what their last answers came to is still so. */
  #isPassing({ update, plan }: UpdateMoment): boolean {
    const { reason } = plan.progressing.because;
    if (reason !== 'AwaitingAlarm' && reason !== 'AwaitingQuery') return false;
    const written = progressOf(update)?.['reason'];
    return closedReasons.some((each) => each === written);
  }
}

/** Returns why nothing more is done; who has just asked waits as who asked before. */
function holdsOf({ decisions, progressing }: UpdatePlan): readonly Because<UpdateReason>[] {
  const holds = decisions.flatMap((each) => (each.kind === 'hold' ? [each.because] : []));
  const isAsked = holds.length === 0 && decisions.some(({ kind }) => kind === 'ask');
  return isAsked ? [progressing.because] : holds;
}

function countOf(ended: readonly EndedDeletion[]): number {
  return ended.filter(({ end }) => end.kind === 'deleted').length;
}

function deletionOf(decision: Of<'delete-pod'>): DeletePod {
  const { reason, message } = decision.because;
  const isStuck = reason === 'StuckPodReplaced';
  return { ...decision, because: { reason: isStuck ? reason : 'PodOutdated', message } };
}
