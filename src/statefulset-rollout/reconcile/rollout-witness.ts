import type { Clock } from '#base/clock.ts';
import { type Millis, millis } from '#base/units.ts';
import type { PodRef } from '#control/decision/decision.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type {
  EvictionResult,
  ReconcileOutcome,
  RolloutMetrics,
  RolloutName,
} from '#telemetry/metrics/rollout-metrics.ts';
import type { RolloutView } from '../parse-resource.ts';
import { parallelismOf, roomOf } from '../plan/plan-budget.ts';
import { type NoticeParts, noticesOfProgress, noticesOfWrite } from '../plan/plan-notices.ts';
import type { Place } from '../plan/plan-places.ts';
import type { RolloutProgress } from '../progress.ts';
import { tellRollout } from '../rollout-reasons.ts';
import type { ShownStatus } from '../status/status-view.ts';
import { leakedIn } from '../status.ts';
import type { RolloutMoment } from './rollout-moment.ts';
import { RotationTimes } from './rotation-times.ts';

/** What {@link RolloutWitness} reports, and through what. */
export interface RolloutWitnessPorts {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly events: EventRecorder;
  readonly metrics: RolloutMetrics;
}

/** Evictions that are sent together. */
export interface WitnessedBatch {
  readonly ended: (pod: PodRef, result: EvictionResult) => void;
  /** None follows. */
  readonly close: () => void;
}

/** Looks at what passes see and do, and counts and reports it; nothing that passes do rests on it. */
export class RolloutWitness {
  readonly #ports: RolloutWitnessPorts;
  readonly #rotations = new RotationTimes();

  constructor(ports: RolloutWitnessPorts) {
    this.#ports = ports;
  }

  /** Takes what a pass has looked at. */
  seen({
    rollout,
    snapshot,
    places,
    monotonic,
  }: RolloutMoment & Pick<ShownStatus, 'places'>): void {
    const { metrics } = this.#ports;
    const slots = slotsOf(snapshot, places);
    if (slots !== undefined) metrics.setSlots(rollout, slots);
    for (const span of this.#rotations.ended(rollout.uid, places, monotonic)) {
      metrics.rotated(rollout, span);
    }
  }

  /** Notes that the progress of a plan is stored. */
  stored(moment: RolloutMoment): void {
    const { rollout, plan, now } = moment;
    const { outcome, isRollback } = plan.progress;
    if (outcome !== undefined && isNewOutcome(rollout.progress, plan.progress)) {
      const result = outcome.result === 'Done' ? 'done' : 'failed';
      const duration = durationOf(plan.progress, now);
      this.#ports.metrics.completed(rollout, { result, isRollback, duration });
    }
    this.#tell(rollout, noticesOfProgress(partsOf(moment)));
  }

  /** Notes that a set is written. */
  written(moment: RolloutMoment): void {
    this.#tell(moment.rollout, noticesOfWrite(partsOf(moment)));
  }

  /** Begins a batch of evictions that are sent together. */
  batchOf(rollout: RolloutView): WitnessedBatch {
    const { metrics, clock } = this.#ports;
    let size = 0;
    return {
      ended: (pod, result) => {
        size += 1;
        metrics.evicted(rollout, result);
        if (result === 'accepted') this.#rotations.begin(rollout.uid, pod, clock.monotonic());
      },
      close: () => metrics.batchSent(size),
    };
  }

  /** Notes that a pass has ended. */
  reconciled(of: RolloutName, outcome: ReconcileOutcome, duration: Millis): void {
    this.#ports.metrics.reconciled(of, outcome, duration);
  }

  /** Forgets the resource, which is gone. @param uid of what it was, where that is known */
  forget(of: RolloutName, uid: string | undefined): void {
    this.#ports.metrics.forget(of);
    if (uid !== undefined) this.#rotations.forget(uid);
  }

  #tell(
    rollout: RolloutView,
    notices: readonly { readonly reason: string; readonly message: string }[],
  ): void {
    for (const each of notices) tellRollout(rollout, each, this.#ports.events);
  }
}

function partsOf({ rollout, snapshot, plan, now }: RolloutMoment): NoticeParts {
  const leakedBefore = leakedIn(rollout.writtenStatus);
  return { snapshot, plan, now, before: rollout.progress, leakedBefore };
}

/** Returns how many pods the budget would let go; undefined where there is no set. */
function slotsOf(
  { target, resource, budgets }: RolloutMoment['snapshot'],
  places: readonly Place[],
): number | undefined {
  const { spec } = resource;
  if (target === undefined || spec.kind === 'invalid') return undefined;
  const { replicas } = target.set.spec;
  const away = places.filter(({ isUnavailable }) => isUnavailable).length;
  const room = roomOf(parallelismOf(budgets, replicas, spec.value.parallelWithoutBudget), away);
  return room.kind === 'room' ? room.slots : 0;
}

/** Reports whether the outcome is one of another rollout than the one that is known; it is counted only once. */
function isNewOutcome(before: RolloutProgress, progress: RolloutProgress): boolean {
  if (before.outcome === undefined || before.key !== progress.key) return true;
  return before.outcome.result !== progress.outcome?.result;
}

/** Pauses left out; undefined for a spec that cannot be read, which is no rollout. */
function durationOf(
  { key, startedAt, pausedTime }: RolloutProgress,
  now: RolloutMoment['now'],
): Millis | undefined {
  if (key === '' || startedAt === undefined) return undefined;
  return millis(Math.max(0, now - startedAt - pausedTime));
}
