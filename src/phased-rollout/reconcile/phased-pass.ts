import { assertNever } from '#base/assert-never.ts';
import type { Logger } from '#base/logger.ts';
import { after, type Monotonic, seconds } from '#base/units.ts';
import { authorized } from '#check/credentials/secured-query.ts';
import { askQueries } from '#check/prometheus/ask-queries.ts';
import type { Prometheus } from '#check/prometheus/prometheus.ts';
import type { Requeue } from '#control/decision/decision.ts';
import { sooner } from '#control/plan/group-plan.ts';
import {
  awaitingOwnWrite,
  type EndedPass,
  type ResourcePassEnd,
  unansweredUntil,
} from '#control/resource/resource-pass.ts';
import type { EndedDeletion, PodDeletions } from '#control/write/pod-deletions.ts';
import type { UnseenWrites } from '#control/write/unseen-writes.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import { apiVersionOf, resourceTypes } from '#kubernetes/resource-type.ts';
import type { RolloutView } from '../parse-resource.ts';
import type { PhasedDecision, PhasedPlan } from '../plan/plan-decision.ts';
import { planPhasedRollout } from '../plan.ts';
import { gateQueries } from '../spec/gate-queries.ts';
import type { LostPartitions } from './lost-partitions.ts';
import { statusAfter } from './next-status.ts';
import { type ApprovalPorts, approve, letsGo } from './phased-approval.ts';
import { type PhasedMoment, phasedMomentOf } from './phased-moment.ts';
import { isUnaskable, PhasedNeeds } from './phased-needs.ts';
import { deletionOf, type PhasedWrites, rolloutRef, type SetDecision } from './phased-writes.ts';
import type { ContestedWrite, WritePaces } from './write-paces.ts';

/** What passes go through. */
export interface PhasedPassPorts extends ApprovalPorts {
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly prometheus: Prometheus;
  readonly writes: PhasedWrites;
  readonly writePaces: WritePaces;
  readonly unseenSets: UnseenWrites;
  readonly unseenRollouts: UnseenWrites;
  readonly deletions: PodDeletions;
  /** A deletion that was begun has ended. */
  readonly deletionEnded: (key: string, ended: EndedDeletion) => void;
  readonly lostPartitions: Pick<LostPartitions, 'lost'>;
}

/** How a pass ended over a PhasedRollout that is there. */
export interface EndedPhasedPass extends EndedPass<RolloutView> {
  /** Absent where nothing was planned. */
  readonly plan?: PhasedPlan;
}

/** What a pass came to. */
export type PhasedPassEnd = ResourcePassEnd<RolloutView, EndedPhasedPass>;

/** How soon what cannot be asked is looked at again: Secrets are not watched. */
const lookAgainAfter = seconds(5);

/**
 * One pass over a PhasedRollout: look, see to what the plan needs, look again, then act; the status is stored last, so
 * that each step is stored before the next rests on it.
 */
export class PhasedPass {
  readonly #key: string;
  readonly #ports: PhasedPassPorts;
  readonly #needs: PhasedNeeds;

  constructor(key: string, ports: PhasedPassPorts) {
    this.#key = key;
    this.#ports = ports;
    this.#needs = new PhasedNeeds(key, ports);
  }

  /**
   * Runs the pass.
   *
   * @throws what a request fails with, OverruledError or StaleBasisError where something may not be sent any more
   */
  async run(signal: AbortSignal): Promise<PhasedPassEnd> {
    for (;;) {
      const moment = phasedMomentOf(this.#key, this.#ports);
      if (moment === undefined) return { kind: 'gone' };
      const unseen = this.#awaitingOwnWrite(moment);
      if (unseen !== undefined) return unseen;
      const plan = this.#uncontested(planPhasedRollout(moment.snapshot, moment.now), moment);
      const pause = this.#partitionPause(plan, moment) ?? this.#statusPause(plan, moment);
      if (pause !== undefined) return paused(moment, pause);
      const need = this.#needs.of(moment, plan);
      if (need === undefined) return this.#carryOut(moment, plan, signal);
      await need(signal);
    }
  }

  #awaitingOwnWrite(moment: PhasedMoment): PhasedPassEnd | undefined {
    const { unseenSets, unseenRollouts } = this.#ports;
    const { rollout, snapshot } = moment;
    const { target, former } = snapshot;
    const sets = target === undefined ? former : [target, ...former];
    const unseen = sets.map(({ set }) => unseenSets.of(set.uid));
    return awaitingOwnWrite(rollout, [unseenRollouts.of(rollout.uid), ...unseen], moment);
  }

  /** Returns the plan in which what another client keeps undoing waits; all else goes on. */
  #uncontested(plan: PhasedPlan, moment: PhasedMoment): PhasedPlan {
    let { requeue } = plan;
    const decisions = plan.decisions.map((each): PhasedDecision => {
      if (each.kind === 'set-partition') return each;
      const pause = this.#ports.writePaces.pauseOf(each, moment.rollout.uid, moment);
      if (pause === undefined) return each;
      requeue = sooner(requeue, { kind: 'at', at: pause.until });
      return { kind: 'hold', ...pause };
    });
    return { ...plan, decisions, requeue };
  }

  /** Returns how long all waits for the partition that another client keeps setting back. */
  #partitionPause({ decisions }: PhasedPlan, moment: PhasedMoment): ContestedWrite | undefined {
    return decisions
      .filter(({ kind }) => kind === 'set-partition')
      .map((each) => this.#ports.writePaces.pauseOf(each, moment.rollout.uid, moment))
      .find((pause) => pause !== undefined);
  }

  /**
   * Returns how long the status waits which another client keeps undoing. What changes a set or a pod does not wait for that:
   * gates must stand.
   */
  #statusPause(plan: PhasedPlan, moment: PhasedMoment): ContestedWrite | undefined {
    if (!plan.decisions.every(({ kind }) => isOfStatus(kind))) return undefined;
    if (statusAfter(moment, plan) === undefined) return undefined;
    return this.#ports.writePaces.statusPauseOf(this.#key, moment.rollout, moment);
  }

  async #carryOut(
    moment: PhasedMoment,
    plan: PhasedPlan,
    signal: AbortSignal,
  ): Promise<PhasedPassEnd> {
    const { rollout } = moment;
    for (const decision of plan.decisions) await this.#act(decision, moment, signal);
    const holds = plan.decisions.flatMap((each) => (each.kind === 'hold' ? [each.because] : []));
    const isFinal = plan.decisions.some(({ kind }) => kind.endsWith('-finalizer'));
    if (!isFinal) await this.#store(moment, plan, signal);
    const requeue = this.#requeueOf(moment, plan);
    return { kind: 'ended', resource: rollout, holds, requeue, plan };
  }

  #requeueOf(moment: PhasedMoment, plan: PhasedPlan): Requeue {
    const { target } = moment.snapshot;
    const answers = unansweredUntil(target?.pods ?? [], this.#ports.open, moment);
    const due = sooner(plan.requeue, answers);
    if (!plan.decisions.some(isUnaskable)) return due;
    return sooner(due, { kind: 'at', at: after(moment.now, lookAgainAfter) });
  }

  /** Carries out what is planned. @throws what a request fails with */
  async #act(decision: PhasedDecision, moment: PhasedMoment, signal: AbortSignal): Promise<void> {
    switch (decision.kind) {
      case 'hold':
        return;
      case 'tell':
        this.#tell(moment.rollout, decision);
        return;
      case 'ask':
        this.#ask(decision, moment);
        return;
      case 'add-finalizer':
      case 'remove-finalizer':
        return this.#changeFinalizer(decision, moment, signal);
      case 'delete-pod':
        this.#delete(decision, signal);
        return;
      case 'adopt':
      case 'release':
      case 'set-partition':
        return this.#changeSet(decision, moment, signal);
      default:
        assertNever(decision);
    }
  }

  async #changeFinalizer(
    decision: Extract<PhasedDecision, { kind: 'add-finalizer' | 'remove-finalizer' }>,
    { rollout }: PhasedMoment,
    signal: AbortSignal,
  ): Promise<void> {
    const { writes, writePaces } = this.#ports;
    await writes.changeFinalizer(rollout, decision.kind, signal);
    writePaces.written(decision, rollout.uid, this.#now());
  }

  #now(): Pick<PhasedMoment, 'now' | 'monotonic'> {
    const { clock } = this.#ports;
    return { now: clock.now(), monotonic: clock.monotonic() };
  }

  #delete(decision: Extract<PhasedDecision, { kind: 'delete-pod' }>, signal: AbortSignal): void {
    const owner = {
      key: this.#key,
      approve: () => approve(decision, this.#key, this.#ports),
      ended: (ended: EndedDeletion) => this.#ports.deletionEnded(this.#key, ended),
    };
    this.#ports.deletions.begin([deletionOf(decision)], owner, signal);
  }

  async #changeSet(
    decision: SetDecision,
    { rollout }: PhasedMoment,
    signal: AbortSignal,
  ): Promise<void> {
    const sending = {
      signal,
      approve: () => void approve(decision, this.#key, this.#ports),
      onLost: (sentAt: Monotonic) => {
        if (letsGo(decision)) this.#ports.lostPartitions.lost(sentAt);
      },
    };
    const { writes, writePaces, refusals } = this.#ports;
    await writes.changeSet(decision, rollout.name, sending);
    const at = this.#now();
    writePaces.written(decision, rollout.uid, at);
    refusals.recovered(this.#key, at.monotonic);
    if (letsGo(decision)) this.#tell(rollout, { ...decision, type: 'Normal' });
  }

  #tell(
    rollout: RolloutView,
    { type, because }: Pick<Extract<PhasedDecision, { kind: 'tell' }>, 'type' | 'because'>,
  ): void {
    const { log, events } = this.#ports;
    const fields = {
      phasedrollout: rollout.name,
      reason: because.reason,
      because: because.message,
    };
    if (type === 'Warning') log.warn('rollout needs attention', fields);
    else log.info('rollout', fields);
    const { kind } = resourceTypes.phasedRollouts;
    const apiVersion = apiVersionOf(resourceTypes.phasedRollouts);
    events.record({ about: { apiVersion, kind, ...rolloutRef(rollout) }, type, ...because });
  }

  #ask(
    { question }: Extract<PhasedDecision, { kind: 'ask' }>,
    { rollout, snapshot }: PhasedMoment,
  ): void {
    const { questions, prometheus, credentials, log } = this.#ports;
    const { spec } = snapshot.resource;
    if (spec.kind === 'invalid') return;
    const asked = gateQueries(spec.value).queries.map((query) =>
      authorized(query, rollout.namespace, credentials),
    );
    questions.ask(this.#key, question, async (signal, sent) => {
      const finding = await askQueries(prometheus, asked, { signal, sent });
      const { verdict, value, because } = finding;
      log.info('check answered', {
        phasedrollout: rollout.name,
        verdict,
        value,
        reason: because.reason,
        because: because.message,
      });
      return finding;
    });
  }

  async #store(moment: PhasedMoment, plan: PhasedPlan, signal: AbortSignal): Promise<void> {
    const { writes, writePaces, questions } = this.#ports;
    const { rollout } = moment;
    const status = statusAfter(moment, plan);
    if (status !== undefined) {
      const stored = await writes.storeStatus(rollout, status, signal);
      writePaces.statusStored({ key: this.#key, rollout, stored }, this.#now());
    }
    if (plan.isAnswerDone) questions.drop(this.#key);
  }
}

/** Ends a pass whose writes another client takes back: all waits, and says so. */
function paused({ rollout }: PhasedMoment, { until, because }: ContestedWrite): PhasedPassEnd {
  return {
    kind: 'ended',
    resource: rollout,
    holds: [because],
    requeue: { kind: 'at', at: until },
  };
}

/** Reports whether decisions of `kind` change no more than what is known and reported of a PhasedRollout. */
function isOfStatus(kind: PhasedDecision['kind']): boolean {
  return kind === 'ask' || kind === 'tell' || kind === 'hold';
}
