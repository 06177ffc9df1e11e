import { after, type Instant, type Millis, millis } from '#base/units.ts';
import type { RolloutProgress } from '../progress.ts';
import { failing, planOf, type RolloutPass, type Step } from './plan-outcome.ts';

/** When time alone ends a rollout. */
interface Deadline {
  readonly at: Instant;
  readonly code: 'ProgressDeadlineExceeded' | 'RolloutTimeout';
  readonly message: string;
}

/** Returns `step`, unless the rollout has taken too long: then it has failed, and says what it waited for. */
export function unlessLate(pass: RolloutPass, step: Step): Step {
  if (step.phase === 'CallingBack') return step;
  const { now } = pass;
  const { progress } = planOf(pass.progress, step);
  const [first, second] = [stallOf(pass, progress), timeoutOf(pass, progress)];
  const deadline = second === undefined || first.at <= second.at ? first : second;
  if (now > deadline.at) {
    const { reason, message } = step.because;
    return failing(deadline.code, `${deadline.message}; ${reason}: ${message}`);
  }
  // Shortly afterwards, as the end itself is in time.
  const next = after(deadline.at, millis(1));
  return { ...step, until: step.until === undefined ? next : earlier(step.until, next) };
}

/** Returns the deadline of a stall: pods that go far apart need longer to make any progress. */
function stallOf({ spec, snapshot, now }: RolloutPass, progress: RolloutProgress): Deadline {
  const { progressDeadline, evictionInterval: interval } = spec;
  const { lastProgress = now, pausedSinceProgress } = progress;
  const { heldUntil = lastProgress } = snapshot;
  const patience = millis(progressDeadline + (2 * interval > progressDeadline ? interval : 0));
  return {
    at: later(
      after(earlier(lastProgress, now), millis(patience + pausedSinceProgress)),
      after(heldUntil, patience),
    ),
    code: 'ProgressDeadlineExceeded',
    message: `no progress for ${secondsOf(patience)} s`,
  };
}

function timeoutOf({ spec, now }: RolloutPass, progress: RolloutProgress): Deadline | undefined {
  const { timeout } = spec;
  if (timeout === undefined) return undefined;
  const { startedAt = now, pausedTime } = progress;
  return {
    at: after(earlier(startedAt, now), millis(timeout + pausedTime)),
    code: 'RolloutTimeout',
    message: `not done after ${secondsOf(timeout)} s`,
  };
}

function earlier(one: Instant, other: Instant): Instant {
  return one < other ? one : other;
}

function later(one: Instant, other: Instant): Instant {
  return one > other ? one : other;
}

function secondsOf(span: Millis): number {
  return span / 1_000;
}
