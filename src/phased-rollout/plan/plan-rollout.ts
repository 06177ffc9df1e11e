import { assertNever } from '#base/assert-never.ts';
import { after, type Instant, seconds } from '#base/units.ts';
import { isUnavailable } from '#statefulset/slot.ts';
import { isRollback, type Step, type StepStatus } from '../status.ts';
import { type Bypass, bypassOf, bypassText } from './bypassed-gate.ts';
import { planAgain } from './plan-again.ts';
import { planUnavailable } from './plan-availability.ts';
import type { PhasedReason } from './plan-decision.ts';
import { planGate } from './plan-gate.ts';
import {
  goesOn,
  held,
  nameAt,
  type Outcome,
  type Pass,
  setPartition,
  slotsIn,
  unlessHeld,
} from './plan-outcome.ts';
import { beginRollback, isRollbackWanted, planRollback } from './plan-rollback.ts';
import { awayText, nextLook, planStuckPod, stuckOnUpdate } from './plan-stuck.ts';

/** How long until a pod is looked for again that is not there yet. */
const podRetry = seconds(30);

/** Returns what is done while a rollout is under way, step by step. */
export function planRollout(pass: Pass): Outcome {
  const ready = { reason: 'Ready', message: 'It can be rolled out' };
  const outcome = planAgain(pass, pass.snapshot.resource.status.step) ?? planUnderWay(pass);
  const conditions = { Ready: { status: 'True', because: ready }, ...outcome.conditions } as const;
  return { ...outcome, conditions };
}

function planUnderWay(pass: Pass): Outcome {
  const { snapshot, target } = pass;
  const { set } = target;
  const { partition, replicas } = set.spec;
  const stored = snapshot.resource.status.step;
  const isGoneBack = stored !== undefined && isRollback(stored.status);
  if (isGoneBack && isRollbackWanted(pass)) return planRollback(pass, stored);
  // That is not wanted any more, or ever did: what the status says of it is from before, and the rollout is checked again.
  const step = isGoneBack ? undefined : stored;
  if (partition === 0) return planLast(pass, step);
  // No pod is let go by that, and no check is spent on pods that are not there any more.
  if (partition > replicas) {
    const message = `${set.name} has ${replicas} replicas only`;
    return { decisions: [setPartition(pass, replicas, { reason: 'SetShrunk', message })] };
  }
  if (set.status.observedGeneration < set.generation) {
    return held('RevisionUnknown', `The newest spec of ${set.name} is not observed yet`);
  }
  return planAtPartition(pass, step);
}

function planAtPartition(pass: Pass, step: Step | undefined): Outcome {
  const { partition } = pass.target.set.spec;
  const bypass = bypassOf(pass, step);
  if (bypass !== undefined) return bypassed(pass, bypass);
  if (step?.partition !== partition) {
    const checked = checkedBefore(pass, step);
    return advanced(pass, { ...stepAt(partition, 'WaitForPodToBeUpdated'), ...checked });
  }
  return planStep(pass, step);
}

/**
 * Awaits the last pods, when all are let go: those that are not available are reported, and one that cannot become ready is seen
 * to.
 */
function planLast(pass: Pass, step: Step | undefined): Outcome {
  // Noted, so that the next leader knows that no late request did that.
  const bypass = bypassOf(pass, step);
  if (bypass !== undefined) return bypassed(pass, bypass);
  if (step !== undefined && step.partition > 1) {
    return advanced(pass, stepAt(0, 'WaitForPodToBeUpdated'));
  }
  const slots = slotsIn(pass);
  const missing = slots.filter(isUnavailable);
  const failed = isRollbackWanted(pass) ? stuckOnUpdate(pass, slots) : undefined;
  if (failed !== undefined) {
    return beginRollback(pass, step ?? stepAt(0, 'WaitForPodToBeUpdated'), failed);
  }
  const { reason, message } = becauseOfLast(pass, step);
  if (missing.length === 0) return held(reason, message);
  const away = `${message}; ${awayText(pass, missing)}`;
  return planStuckPod(pass, slots) ?? held(reason, away, nextLook(pass, missing));
}

function becauseOfLast(
  { target: { set } }: Pass,
  step: Step | undefined,
): { readonly reason: PhasedReason; readonly message: string } {
  const { bypassedPartition: from } = step ?? {};
  const message = `${set.name} has nothing left to check`;
  if (from === undefined) return { reason: 'AwaitingPromotion', message };
  // One Event has the newest text of a reason: it says again what was told first.
  return { reason: 'GateBypassed', message: `${bypassText(set, from)}; ${message}` };
}

/** Tells that another client has let pods go, and goes on from there. */
function bypassed(pass: Pass, { from, message }: Bypass): Outcome {
  const because = { reason: 'GateBypassed', message } as const;
  const { partition } = pass.target.set.spec;
  const step = { ...stepAt(partition, 'WaitForPodToBeUpdated'), bypassedPartition: from };
  return {
    ...advanced(pass, step),
    conditions: { Updated: { status: 'False', because } },
    decisions: [{ kind: 'tell', type: 'Warning', because }],
  };
}

/** Returns at which partition the checks have passed last, where this step follows on `before` because a pod was let go. */
function checkedBefore(
  { spec, target }: Pass,
  before: Step | undefined,
): Pick<Step, 'checkedPartition'> {
  const { partition, replicas } = target.set.spec;
  const isNext = partition < replicas && partition + 1 === before?.partition;
  if (spec.stepSize === undefined || !isNext) return {};
  const isChecked = before.consecutiveSuccesses >= spec.successThreshold;
  const checkedPartition = isChecked ? before.partition : before.checkedPartition;
  return checkedPartition === undefined ? {} : { checkedPartition };
}

function planStep(pass: Pass, step: Step): Outcome {
  switch (step.status) {
    case 'WaitForPodToBeUpdated':
      return planPodWait(pass, step);
    case 'WaitForAllPodsToBeAvailable':
      return planAvailability(pass, step);
    case 'WaitForInitialDelay':
    case 'WaitForChecks':
    case 'PrometheusError':
    case 'Paused':
      return planGate(pass, step);
    case 'RollingBack':
    case 'RolledBack':
      return planRollback(pass, step);
    default:
      return assertNever(step.status);
  }
}

/** Returns a step of which nothing is counted yet. */
function stepAt(partition: number, status: StepStatus, analysisStart?: Instant): Step {
  return {
    status,
    partition,
    analysisStart,
    lastCheck: undefined,
    consecutiveSuccesses: 0,
    consecutiveFailures: 0,
    totalFailures: 0,
  };
}

function advanced(pass: Pass, next: Step): Outcome {
  const { bypassedPartition } = pass.snapshot.resource.status.step ?? {};
  const step = { ...(bypassedPartition !== undefined && { bypassedPartition }), ...next };
  const because = { reason: 'Rolling', message: stepText(pass, step) };
  const conditions = { Updated: { status: 'False', because } } as const;
  return goesOn(pass, { ...pass.snapshot.resource.status, step }, { conditions });
}

/** Returns what `step` waits for; of a check that was counted before it nothing is left. */
function stepText({ target: { set } }: Pass, { status, partition }: Step): string {
  const end = `before ${nameAt(set, partition - 1)} may run ${set.status.updateRevision}`;
  if (status === 'WaitForPodToBeUpdated' && partition < set.spec.replicas) {
    return `${nameAt(set, partition)} is to run ${set.status.updateRevision}`;
  }
  return status === 'WaitForInitialDelay'
    ? `All pods are available; the delay and the checks follow ${end}`
    : `All pods are to be available ${end}`;
}

/** Awaits that the pod which the last step let go runs the new revision; a partition counts from the first ordinal. */
function planPodWait(pass: Pass, step: Step): Outcome {
  const { partition } = step;
  const { set } = pass.target;
  const slots = slotsIn(pass);
  const slot = partition < set.spec.replicas ? slots[partition] : undefined;
  const isUpdated =
    slot === undefined ||
    (slot.kind !== 'missing' && slot.pod.revision === set.status.updateRevision);
  if (isUpdated) {
    const next = stepAt(partition, 'WaitForAllPodsToBeAvailable');
    return advanced(pass, { ...next, ...checkedIn(step) });
  }
  const message = `${set.name}-${slot.ordinal} does not run ${set.status.updateRevision} yet`;
  return planStuckPod(pass, slots) ?? held('AwaitingPod', message, after(pass.now, podRetry));
}

function planAvailability(pass: Pass, step: Step): Outcome {
  const unavailable = planUnavailable(pass, step);
  if (unavailable !== undefined) return unavailable;
  if (isWithinStep(pass, step)) return planNextOfStep(pass, step);
  return advanced(pass, stepAt(step.partition, 'WaitForInitialDelay', pass.now));
}

/**
 * Reports whether one pod more may go before anything is asked again: the pods since the last checks are no more than a step
 * has.
 */
function isWithinStep(
  { spec: { stepSize = 1 } }: Pass,
  { partition, checkedPartition }: Step,
): boolean {
  if (checkedPartition === undefined) return false;
  const gone = checkedPartition - partition;
  // No pod has gone by a partition that is checked here or further down: a user wrote that.
  return gone > 0 && gone < stepSize;
}

function planNextOfStep(pass: Pass, { partition, checkedPartition = 0 }: Step): Outcome {
  const { target, spec, snapshot } = pass;
  const next = nameAt(target.set, partition - 1);
  const message =
    `All pods are available, so ${next} may run ${target.set.status.updateRevision}, ` +
    `number ${checkedPartition - partition + 1} of the ${spec.stepSize ?? 1} pods of its step`;
  return unlessHeld(snapshot, 'gated', () => ({
    decisions: [setPartition(pass, partition - 1, { reason: 'WithinStep', message })],
  }));
}

function checkedIn({ checkedPartition }: Step): Pick<Step, 'checkedPartition'> {
  return checkedPartition === undefined ? {} : { checkedPartition };
}
