import type { Instant } from '#base/units.ts';
import type { Requeue } from '#control/decision/decision.ts';
import { setRef } from '#control/decision/refs.ts';
import type { WantedCondition } from '#kubernetes/custom-resource/conditions.ts';
import { type Slot, slotsOf } from '#statefulset/slot.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { PhasedRolloutSpec } from '../api.ts';
import type { DisruptionHold, PhasedSnapshot, TargetSet } from '../snapshot.ts';
import type { Phase, RolloutStatus } from '../status.ts';
import type { PhasedDecision, PhasedPlan, PhasedReason } from './plan-decision.ts';

/** A snapshot of which it is known that there is a set, and what is wanted of it. */
export interface Pass {
  readonly snapshot: PhasedSnapshot;
  readonly target: TargetSet;
  readonly spec: PhasedRolloutSpec;
  readonly now: Instant;
}

/** A plan of which most parts are as usual: nothing done, the status kept, the next change awaited. */
export type Outcome = Partial<PhasedPlan>;

const awaitChange: Requeue = { kind: 'await-change' };

/** Returns `outcome` with all that it leaves open. */
export function completed(snapshot: PhasedSnapshot, outcome: Outcome): PhasedPlan {
  return {
    decisions: [],
    status: snapshot.resource.status,
    conditions: {},
    requeue: awaitChange,
    memory: undefined,
    // Nothing waits for an answer outside of an analysis: one that comes is of a state that is over.
    isAnswerDone: snapshot.gate.answer !== undefined,
    ...outcome,
  };
}

/** Returns a hold; `until` when time alone ends it, and then is looked again. */
export function held(reason: PhasedReason, message: string, until?: Instant): Outcome {
  const decision: PhasedDecision = {
    kind: 'hold',
    ...(until !== undefined && { until }),
    because: { reason, message },
  };
  return {
    decisions: [decision],
    requeue: until === undefined ? awaitChange : { kind: 'at', at: until },
  };
}

/** Returns a status in which the next look, which is due at once, goes on. */
export function goesOn({ now }: Pass, status: RolloutStatus, rest: Outcome = {}): Outcome {
  return { status, requeue: { kind: 'at', at: now }, ...rest };
}

/** Returns the decision that the partition is to be `to`. */
export function setPartition(
  { target: { set } }: Pass,
  to: number,
  because: { readonly reason: PhasedReason; readonly message: string },
): PhasedDecision {
  return {
    kind: 'set-partition',
    set: setRef(set),
    revision: set.resourceVersion,
    from: set.spec.partition,
    to,
    because,
  };
}

/** Returns the first of `holds` that forbids a disruption: one that a user lifted the gate of, or one behind it. */
export function holdOn(
  { holds }: PhasedSnapshot,
  disruption: 'gated' | 'lifted',
): DisruptionHold | undefined {
  return holds.find(({ kind }) => kind === 'view' || disruption === 'gated');
}

/** Returns `then`, unless something forbids it now. */
export function unlessHeld(
  snapshot: PhasedSnapshot,
  disruption: 'gated' | 'lifted',
  then: () => Outcome,
): Outcome {
  const hold = holdOn(snapshot, disruption);
  return hold === undefined ? then() : held(hold.because.reason, hold.because.message, hold.until);
}

/** Returns the slots of the set as they are now. */
export function slotsIn({ snapshot, target, now }: Pass): readonly Slot[] {
  const { leaving, watched } = snapshot;
  return slotsOf({ set: target.set, pods: target.pods, leaving, watched }, now);
}

/** Returns the name of the pod at `index` from the first ordinal of `set`: a partition counts from there. */
export function nameAt({ name, spec }: StatefulSetView, index: number): string {
  return `${name}-${spec.ordinalsStart + index}`;
}

/**
 * Returns the outcome of an error or a suspension: the other fields stay as they were, and `because` is in both
 * conditions.
 */
export function stopped(
  { resource: { status } }: PhasedSnapshot,
  phase: Phase,
  stop: Pick<WantedCondition, 'because'> & { readonly isReady?: boolean },
): Outcome {
  const { because, isReady = false } = stop;
  return {
    status: { ...status, phase },
    conditions: {
      Ready: { status: isReady ? 'True' : 'False', because },
      Updated: { status: 'Unknown', because },
    },
  };
}
