import type { Logger } from '#base/logger.ts';
import { after } from '#base/units.ts';
import type { Requeue } from '#control/decision/decision.ts';
import { sooner } from '#control/plan/group-plan.ts';
import {
  awaitingOwnWrite,
  type ResourcePassEnd,
  unansweredUntil,
} from '#control/resource/resource-pass.ts';
import type { UnseenWrites } from '#control/write/unseen-writes.ts';
import type { CallbackCalls } from '../notification/callback-calls.ts';
import type { SlackReports } from '../notification/slack-reports.ts';
import type { RolloutView } from '../parse-resource.ts';
import type { RolloutProgress } from '../progress.ts';
import { tellRollout } from '../rollout-reasons.ts';
import { newlyUnpinnedIn, type ShownStatus, shown } from '../status/status-view.ts';
import { type RolloutActionPorts, RolloutActions, type WorldAction } from './rollout-actions.ts';
import { type RolloutMoment, rolloutMomentOf, specOf } from './rollout-moment.ts';
import { RolloutNeeds } from './rollout-needs.ts';
import type { RolloutWitness } from './rollout-witness.ts';
import type { MissingStatus } from './rollout-writes.ts';
import { toldHolds } from './told-holds.ts';

/** What passes go through. */
export interface RolloutPassPorts extends RolloutActionPorts {
  readonly log: Logger;
  readonly callbacks: CallbackCalls;
  readonly slack: SlackReports;
  readonly unseenSets: UnseenWrites;
  readonly unseenRollouts: UnseenWrites;
  readonly witness: RolloutWitness;
}

/** What a pass came to. */
export type RolloutPassEnd = ResourcePassEnd<RolloutView>;

type ShownMoment = RolloutMoment & ShownStatus;

/** One pass over a StatefulsetRollout: look, see to what the plan needs, store what is decided, then do it. */
export class RolloutPassRun {
  readonly #key: string;
  readonly #ports: RolloutPassPorts;
  readonly #actions: RolloutActions;
  readonly #needs: RolloutNeeds;

  constructor(key: string, ports: RolloutPassPorts) {
    this.#key = key;
    this.#ports = ports;
    this.#actions = new RolloutActions(key, ports);
    this.#needs = new RolloutNeeds(key, ports);
  }

  /**
   * Runs the pass.
   *
   * @throws what a request fails with, OverruledError or StaleBasisError where something may not be sent any more
   */
  async run(signal: AbortSignal): Promise<RolloutPassEnd> {
    for (;;) {
      const moment = rolloutMomentOf(this.#key, this.#ports);
      if (moment === undefined) return { kind: 'gone' };
      const unseen = this.#awaitingOwnWrite(moment);
      if (unseen !== undefined) return unseen;
      const need = this.#needs.of(moment);
      if (need === undefined) return this.#carryOut(shown(moment), signal);
      await need(signal);
    }
  }

  #awaitingOwnWrite(moment: RolloutMoment): RolloutPassEnd | undefined {
    const { unseenSets, unseenRollouts } = this.#ports;
    const { rollout, snapshot } = moment;
    const { uid } = rollout;
    const { target } = snapshot;
    const ofTarget = target && unseenSets.of(target.set.uid);
    const writes = [unseenRollouts.of(uid), unseenSets.of(uid), ofTarget];
    return awaitingOwnWrite(rollout, writes, moment);
  }

  async #carryOut(moment: ShownMoment, signal: AbortSignal): Promise<RolloutPassEnd> {
    const { action } = moment.plan;
    this.#ports.witness.seen(moment);
    if (action === undefined) return this.#ended(moment, await this.#store(moment, signal));
    switch (action.kind) {
      case 'compare':
      case 'validate':
        await this.#look(action.kind, moment, signal);
        return this.#ended(moment, at(moment));
      case 'add-finalizer':
        await this.#ports.writes.changeFinalizer(moment.rollout, action.kind, signal);
        return this.#ended(moment, at(moment));
      case 'disown-set':
        // Nothing of it is stored: whatever else was edited is still to be looked at.
        await this.#actions.carryOut(action, moment, signal);
        return this.#ended(moment, at(moment));
      case 'call-back':
        return this.#callBack(moment, signal);
      default:
        return this.#act(action, moment, signal);
    }
  }

  /** Acts on what is decided and stored: the next process knows what may be under way. */
  async #act(
    action: WorldAction,
    moment: ShownMoment,
    signal: AbortSignal,
  ): Promise<RolloutPassEnd> {
    const { rollout, now } = moment;
    const missing = this.#missing(moment);
    if (missing.kind === 'contested') {
      const requeue = { kind: 'at', at: after(now, missing.in) } as const;
      return { kind: 'ended', resource: rollout, holds: [contested], requeue };
    }
    if (missing.kind !== 'nothing') await this.#write(moment, signal);
    await this.#actions.carryOut(action, moment, signal);
    return this.#ended(moment, at(moment));
  }

  #ended(moment: ShownMoment, requeue: Requeue): RolloutPassEnd {
    const { slack, open } = this.#ports;
    const { rollout, snapshot } = moment;
    slack.show(moment);
    const due = sooner(requeue, unansweredUntil(snapshot.target?.pods ?? [], open, moment));
    return { kind: 'ended', resource: rollout, holds: toldHolds(moment), requeue: due };
  }

  /** Stores, calls, and stores again: who is called twice knows it by the key of the outcome (E-14), and hears the same. */
  async #callBack(moment: ShownMoment, signal: AbortSignal): Promise<RolloutPassEnd> {
    const { callbacks, events } = this.#ports;
    const { rollout, plan, status } = moment;
    const ended = { rollout, progress: plan.progress };
    if (plan.progress.callback.body === '') {
      const body = callbacks.bodyOf(ended, status);
      // It is unknown what to report; an edit begins again.
      if (body === '') return this.#ended(moment, { kind: 'await-change' });
      return this.#noted(moment, { callback: { ...plan.progress.callback, body } }, signal);
    }
    const told = callbacks.take(ended, signal);
    // Woken once it has ended.
    if (told === undefined) return this.#ended(moment, { kind: 'await-change' });
    const { callback, deliveredStage, finishedAt } = told;
    const noted = await this.#noted(moment, { callback, deliveredStage, finishedAt }, signal);
    const isLost = callback.isOver && deliveredStage !== callback.stageId;
    if (isLost) {
      const message = `stage ${callback.stageId}: ${callback.message}`;
      tellRollout(rollout, { reason: 'CallbackFailed', message }, events);
    }
    return noted;
  }

  async #noted(
    moment: ShownMoment,
    changes: Partial<RolloutProgress>,
    signal: AbortSignal,
  ): Promise<RolloutPassEnd> {
    const progress = { ...moment.plan.progress, ...changes };
    const plan = { ...moment.plan, action: undefined, progress };
    await this.#storeNow(shown({ ...moment, plan }), signal);
    return this.#ended(moment, at(moment));
  }

  async #look(
    kind: 'compare' | 'validate',
    { rollout, snapshot }: RolloutMoment,
    signal: AbortSignal,
  ): Promise<void> {
    const spec = specOf(rollout);
    if (spec === undefined) return;
    const { sights } = this.#ports;
    if (kind === 'compare') await sights.compare(rollout, spec, signal);
    else await sights.validate(rollout, spec, { set: snapshot.target?.set, signal });
  }

  /** Stores what has changed; what no decision rests on is stored once a second at most. */
  async #store(moment: ShownMoment, signal: AbortSignal): Promise<Requeue> {
    const { plan, now } = moment;
    const missing = this.#missing(moment);
    if (missing.kind === 'nothing') return plan.requeue;
    if (missing.kind !== 'now') {
      return sooner(plan.requeue, { kind: 'at', at: after(now, missing.in) });
    }
    await this.#write(moment, signal);
    return sooner(plan.requeue, at(moment));
  }

  async #storeNow(moment: ShownMoment, signal: AbortSignal): Promise<void> {
    if (this.#missing(moment).kind === 'nothing') return;
    await this.#write(moment, signal);
  }

  #missing(moment: ShownMoment): MissingStatus {
    const { slack, writes } = this.#ports;
    const missing = writes.missing(moment.rollout, moment.status);
    // A write whose answer was lost has stored it.
    if (missing.kind === 'nothing') slack.stored(moment);
    return missing;
  }

  async #write(moment: ShownMoment, signal: AbortSignal): Promise<void> {
    const { rollout, status, now } = moment;
    await this.#ports.writes.storeStatus(rollout, status, { now, signal });
    this.#ports.slack.stored(moment);
    this.#tellStored(moment);
  }

  /** Reports to users what is new in the status that was just stored. */
  #tellStored(moment: ShownMoment): void {
    const { rollout, plan } = moment;
    const { events } = this.#ports;
    const unpinned = newlyUnpinnedIn(moment);
    if (unpinned !== undefined) tellRollout(rollout, unpinned, events);
    const isNew =
      plan.progress.phase !== rollout.progress.phase || plan.progress.key !== rollout.progress.key;
    if (isNew && plan.action === undefined && plan.because !== undefined) {
      tellRollout(rollout, plan.because, events);
    }
    this.#tellSuperseded(moment);
    this.#ports.witness.stored(moment);
  }

  /** Tells that a callback that was still tried is given up. */
  #tellSuperseded({ rollout, plan }: RolloutMoment): void {
    const { phase, key, outcome } = rollout.progress;
    if (phase !== 'CallingBack' || plan.progress.key === key) return;
    const { callbacks, events } = this.#ports;
    callbacks.superseded(rollout.uid, rollout.progress, (stageId) => {
      // Before any attempt only what the resource says now says whether there is a receiver.
      if (stageId === undefined && specOf(rollout)?.callback === undefined) return;
      const receiver = stageId === undefined ? 'the receiver' : `stage ${stageId}`;
      const message = `${receiver} got no callback that says: ${outcome?.message ?? 'it ended'}`;
      tellRollout(rollout, { reason: 'CallbackSuperseded', message }, events);
    });
  }
}

const contested = {
  reason: 'DecisionContested',
  message:
    'the same was decided within the last second, and another client changes the status or the StatefulSet back; it is decided once a second',
} as const;

/** Returns when to look again: at once, or as soon as what was written shows. */
function at({ now }: RolloutMoment): Requeue {
  return { kind: 'at', at: now };
}
