import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { parseTimestamp } from '#base/time/timestamp.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { type Instant, instant } from '#base/units.ts';
import type { CheckState } from '#check/check-state.ts';

/** What `status.phase` may be; empty while the object has not been looked at. */
export type Phase =
  | ''
  | 'ErrorSTSNotFound'
  | 'ErrorCannotManage'
  | 'Suspended'
  | 'Rolling'
  | 'Updated';

/** What a step waits for. */
export type StepStatus =
  | 'WaitForPodToBeUpdated'
  | 'WaitForAllPodsToBeAvailable'
  | 'WaitForInitialDelay'
  | 'WaitForChecks'
  | 'PrometheusError'
  // Ours, of those who set a failure budget.
  | 'Paused'
  | 'RollingBack'
  | 'RolledBack';

/** One step of a rollout: `status.rollingPodStatus`. Times are of whole seconds. */
export interface Step {
  readonly status: StepStatus;
  /** Partition that was acted on last. */
  readonly partition: number;
  /** When all pods were seen available; the initial delay counts from then. */
  readonly analysisStart: Instant | undefined;
  /** When the last answer came that was no error. */
  readonly lastCheck: Instant | undefined;
  readonly consecutiveSuccesses: number;
  readonly consecutiveFailures: number;
  readonly totalFailures: number;
  /** Partition at which the checks of this rollout have passed last; kept where a step has several pods. */
  readonly checkedPartition?: number;
  /** Partition before another client lowered it, and let pods go without a check. */
  readonly bypassedPartition?: number;
}

/** What the program keeps in `status`, but for conditions. */
export interface RolloutStatus {
  readonly phase: Phase;
  /** What the last rollout was for, or is. */
  readonly updateRevision: string | undefined;
  readonly rolloutStart: Instant | undefined;
  readonly rolloutEnd: Instant | undefined;
  readonly step: Step | undefined;
}

const phases: readonly Phase[] = [
  'ErrorSTSNotFound',
  'ErrorCannotManage',
  'Suspended',
  'Rolling',
  'Updated',
];

const stepStatuses: readonly StepStatus[] = [
  'WaitForPodToBeUpdated',
  'WaitForAllPodsToBeAvailable',
  'WaitForInitialDelay',
  'WaitForChecks',
  'PrometheusError',
  'Paused',
  'RollingBack',
  'RolledBack',
];

/**
 * Reads the status of a stored PhasedRollout, which any client may have edited. What cannot be read is taken for not written: no
 * count is made of it, and an unreadable step begins again.
 */
export function parseStatus({ status }: JsonObject): RolloutStatus {
  const written = isJsonObject(status) ? status : {};
  const { phase, updateRevision, rollingPodStatus } = written;
  return {
    phase: phases.find((each) => each === phase) ?? '',
    updateRevision: typeof updateRevision === 'string' ? updateRevision : undefined,
    rolloutStart: timeOf(written['rolloutStartTime']),
    rolloutEnd: timeOf(written['rolloutEndTime']),
    step: isJsonObject(rollingPodStatus) ? stepOf(rollingPodStatus) : undefined,
  };
}

function stepOf(written: JsonObject): Step | undefined {
  const status = stepStatuses.find((each) => each === written['status']);
  const partition = countOf(written['partition']);
  if (status === undefined || partition === undefined) return undefined;
  const checkedPartition = countOf(written['checkedPartition']);
  const bypassedPartition = countOf(written['bypassedPartition']);
  return {
    status,
    partition,
    analysisStart: timeOf(written['analisysStartTime']),
    lastCheck: timeOf(written['lastCheckTime']),
    consecutiveSuccesses: countOf(written['consecutiveSuccessfulChecks']) ?? 0,
    consecutiveFailures: countOf(written['consecutiveFailedChecks']) ?? 0,
    totalFailures: countOf(written['totalFailedChecks']) ?? 0,
    ...(checkedPartition !== undefined && { checkedPartition }),
    ...(bypassedPartition !== undefined && { bypassedPartition }),
  };
}

function countOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}

function timeOf(value: JsonValue | undefined): Instant | undefined {
  const parsed = typeof value === 'string' ? parseTimestamp(value, '') : undefined;
  return parsed?.kind === 'valid' ? parsed.value : undefined;
}

/** Returns `status` as it is stored: times of whole seconds, and nothing for what is not set. */
export function formatStatus(status: RolloutStatus): JsonObject {
  const { phase, updateRevision, rolloutStart, rolloutEnd, step } = status;
  return {
    phase,
    ...(updateRevision !== undefined && { updateRevision }),
    ...timeField('rolloutStartTime', rolloutStart),
    ...timeField('rolloutEndTime', rolloutEnd),
    ...(step !== undefined && { rollingPodStatus: formatStep(step) }),
  };
}

function formatStep(step: Step): JsonObject {
  return {
    status: step.status,
    partition: step.partition,
    ...timeField('analisysStartTime', step.analysisStart),
    ...timeField('lastCheckTime', step.lastCheck),
    consecutiveSuccessfulChecks: int32Of(step.consecutiveSuccesses),
    consecutiveFailedChecks: int32Of(step.consecutiveFailures),
    totalFailedChecks: int32Of(step.totalFailures),
    ...(step.checkedPartition !== undefined && { checkedPartition: step.checkedPartition }),
    ...(step.bypassedPartition !== undefined && { bypassedPartition: step.bypassedPartition }),
  };
}

/** Returns the count, or the largest that the definition lets be stored: one more would have every write refused. */
function int32Of(count: number): number {
  return Math.min(count, 2 ** 31 - 1);
}

function timeField(name: string, at: Instant | undefined): JsonObject {
  if (at === undefined) return {};
  return { [name]: formatUtcSeconds(wholeSeconds(at)) };
}

/** Returns what is left of `at` when it is stored. */
function wholeSeconds(at: Instant): Instant {
  return instant(Math.floor(at / 1_000) * 1_000);
}

/** Reports whether pods go back in a step of `status`, or have gone back. */
export function isRollback(status: StepStatus | undefined): boolean {
  return status === 'RollingBack' || status === 'RolledBack';
}

const asking: readonly StepStatus[] = [
  'WaitForInitialDelay',
  'WaitForChecks',
  'PrometheusError',
  // To raise the failure budget lets it go on where it was.
  'Paused',
];

/**
 * Returns how far the answers of `step` have come; undefined while nothing is to be asked in it. Errors are stored nowhere: a
 * process that has just started asks at once.
 *
 * @param owner names the set and its revision: what was counted for another is none of this step's
 */
export function checkStateOf(step: Step, owner: string): CheckState | undefined {
  const { analysisStart, lastCheck, partition } = step;
  if (analysisStart === undefined || !asking.includes(step.status)) return undefined;
  return {
    subject: `${owner}/${partition}/${wholeSeconds(analysisStart)}`,
    began: analysisStart,
    passes: step.consecutiveSuccesses,
    failures: step.consecutiveFailures,
    totalFailures: step.totalFailures,
    errors: 0,
    ...(lastCheck !== undefined && { lastAnswer: lastCheck }),
  };
}
