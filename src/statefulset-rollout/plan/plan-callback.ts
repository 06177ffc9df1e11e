import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { type Instant, seconds } from '#base/units.ts';
import {
  type CallbackVerdict,
  longestRetryAfter,
  type NextAttempt,
} from '#notification/callback/callback-answer.ts';
import type { CallbackTarget } from '../api.ts';
import { type CallbackProgress, noCallback } from '../callback-progress.ts';
import type { RolloutProgress } from '../progress.ts';
import { because, type RolloutPass, type Step } from './plan-outcome.ts';

/** Times are stored to the second. */
const storedTo = seconds(1);

/** Plans the end, whose outcome is known: the receivers that asked for it are notified, and then nothing is left to do. */
export function planEnd(pass: RolloutPass): Step {
  const { progress, spec, now } = pass;
  const changes = outcomeIn(pass);
  const callback = openCallback(progress, spec.callback);
  if (callback === undefined) return ended(pass);
  const { nextAttempt, message } = callback;
  if (nextAttempt !== undefined && isAhead(nextAttempt, now)) {
    const text = `the callback has failed: ${message}; it is sent again at ${formatUtcSeconds(nextAttempt)}`;
    return {
      phase: 'CallingBack',
      because: because('AwaitingCallback', text),
      until: nextAttempt,
      changes,
    };
  }
  return {
    phase: 'CallingBack',
    because: because('CallingBack', `calling back with the outcome, for stage ${callback.stageId}`),
    action: { kind: 'call-back' },
    changes: { ...changes, callback },
  };
}

/**
 * Reports whether the next attempt lies ahead: a time that no wait of ours leads to was written under a clock that has gone
 * back since, and counts as now.
 */
function isAhead(nextAttempt: Instant, now: Instant): boolean {
  return nextAttempt > now && nextAttempt - now <= longestRetryAfter + storedTo;
}

/** Reports whether a user asks how a rollout ended that has ended: another stage than the one that was reported. */
export function isAsked({ progress, spec }: RolloutPass): boolean {
  if (progress.outcome === undefined || spec.callback === undefined) return false;
  return progress.callback.stageId !== spec.callback.stageId && isOpen(progress, spec.callback);
}

function isOpen({ deliveredStage }: RolloutProgress, { stageId }: CallbackTarget): boolean {
  return deliveredStage !== stageId;
}

/** Returns the callback that is still to be delivered; undefined where none is. */
export function openCallback(
  progress: RolloutProgress,
  target: CallbackTarget | undefined,
): CallbackProgress | undefined {
  if (target === undefined || !isOpen(progress, target)) return undefined;
  const { callback } = progress;
  if (callback.stageId !== target.stageId) return { ...noCallback, stageId: target.stageId };
  return callback.isOver ? undefined : callback;
}

/** Returns the last step. A lost callback never turns a success into a failure (E-13). */
function ended(pass: RolloutPass): Step {
  const { outcome } = pass.progress;
  const isDone = outcome?.result === 'Done';
  const phase = isDone ? 'RolloutDone' : 'RolloutFailed';
  const message = outcome?.message ?? 'the outcome is not known';
  return { phase, because: because(phase, message), changes: outcomeIn(pass) };
}

function outcomeIn({ progress, spec, now }: RolloutPass): Partial<RolloutProgress> {
  const isDone = progress.outcome?.result === 'Done';
  const finishedAt = progress.finishedAt ?? now;
  return { finishedAt, ...(isDone && { percentDeployed: spec.percent }) };
}

/**
 * Returns the progress after one attempt that ended as `verdict` says. No receiver is called again about a resource that is deleted.
 *
 * @param next of a failure that may pass
 */
export function calledBack(
  progress: RolloutProgress,
  verdict: Exclude<CallbackVerdict, { kind: 'given-up' }>,
  next?: NextAttempt,
): RolloutProgress {
  const { callback, phase } = progress;
  const again = next?.kind === 'attempt' && phase !== 'Deleting' ? next.at : undefined;
  const last = next?.kind === 'used-up' ? next.because : verdict.because;
  const attempted: CallbackProgress = {
    ...callback,
    attempts: callback.attempts + 1,
    code: last.reason,
    message: last.message,
    nextAttempt: again,
    isOver: again === undefined,
    body: again === undefined ? '' : callback.body,
  };
  if (verdict.kind !== 'delivered') return { ...progress, callback: attempted };
  return { ...progress, callback: attempted, deliveredStage: callback.stageId };
}
