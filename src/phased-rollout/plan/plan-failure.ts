import type { CheckAnswer } from '#check/answer.ts';
import type { CheckPlan } from '#check/plan-check.ts';
import type { Step } from '../status.ts';
import { goesOn, held, nameAt, type Outcome, type Pass } from './plan-outcome.ts';
import { beginRollback, isRollbackWanted } from './plan-rollback.ts';

/** A check that has failed for good, as far as the failure budget of the spec says. */
export interface FailedCheck {
  readonly because: Extract<CheckPlan, { kind: 'failed' }>['because'];
  /** The answer that spent the budget; absent where that was counted before, or the budget was lowered. */
  readonly answer?: CheckAnswer;
}

/** Returns what is done once the failure budget is spent: nothing more goes, and by the wish of the user pods go back. */
export function planFailure(pass: Pass, step: Step, failed: FailedCheck): Outcome {
  const why = whyOf(pass, step, failed);
  if (isRollbackWanted(pass)) return beginRollback(pass, step, why);
  const message = `${why}: nothing more goes until the template or spec.check.failureBudget is changed`;
  if (step.status === 'Paused') return held('CheckFailed', message);
  const next = { ...step, status: 'Paused' } as const;
  const because = { reason: 'CheckFailed', message };
  const conditions = { Updated: { status: 'False', because } } as const;
  return goesOn(pass, { ...pass.snapshot.resource.status, step: next }, { conditions });
}

function whyOf(pass: Pass, { partition }: Step, { because, answer }: FailedCheck): string {
  const { updateRevision } = pass.target.set.status;
  const value = answer?.value === undefined ? '' : `, value ${answer.value}`;
  const last = answer === undefined ? '' : ` (the last answer: ${answer.because.message}${value})`;
  const next = nameAt(pass.target.set, partition - 1);
  return `${because.message} before ${next} may run ${updateRevision}${last}`;
}
