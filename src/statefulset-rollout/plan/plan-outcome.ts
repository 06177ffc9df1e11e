import { type Instant, type Millis, millis } from '#base/units.ts';
import type { Requeue } from '#control/decision/decision.ts';
import type { StatefulsetRolloutSpec } from '../api.ts';
import type { Outcome, Phase, RolloutProgress } from '../progress.ts';
import type { RolloutSnapshot } from '../snapshot.ts';
import type { BecauseRollout, RolloutAction, RolloutPlan, RolloutReason } from './plan-decision.ts';

/** One pass over a rollout whose spec can be read, and that is the one which is stored. */
export interface RolloutPass {
  readonly snapshot: RolloutSnapshot;
  readonly spec: StatefulsetRolloutSpec;
  /** As it is stored, with what this moment adds to it. */
  readonly progress: RolloutProgress;
  readonly now: Instant;
}

/** What a step comes to. */
export interface Step {
  readonly phase: Phase;
  readonly because: BecauseRollout;
  readonly action?: RolloutAction;
  /** What else changes of the progress. */
  readonly changes?: Partial<RolloutProgress>;
  /** When time alone brings it on; absent: a change does. */
  readonly until?: Instant;
}

const awaitChange: Requeue = { kind: 'await-change' };

/** Returns the plan that makes `step` of `progress`. */
export function planOf(progress: RolloutProgress, step: Step): RolloutPlan {
  const { phase, because, action, changes, until } = step;
  return {
    action,
    because,
    progress: { ...progress, ...changes, phase },
    requeue: until === undefined ? awaitChange : { kind: 'at', at: until },
  };
}

/** Returns a reason and its sentence. */
export function because(reason: RolloutReason, message: string): BecauseRollout {
  return { reason, message };
}

/** Returns the step by which a rollout ends, and its receiver is to be called back. */
export function ending(outcome: Outcome, told: RolloutReason): Step {
  return {
    phase: 'CallingBack',
    because: because(told, outcome.message),
    changes: { outcome },
  };
}

/** Returns the step by which a rollout fails. */
export function failing(code: RolloutReason, message: string): Step {
  return ending({ result: 'Failed', code, message }, code);
}

/** Returns how much of `span` is left since `start`; a start that lies ahead counts as now. */
export function leftOf(span: Millis, start: Instant | undefined, now: Instant): Millis {
  if (start === undefined) return millis(0);
  return millis(Math.max(0, span - Math.max(0, now - start)));
}
