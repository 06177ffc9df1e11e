import { assertNever } from '#base/assert-never.ts';
import { after, type Instant, millis, seconds } from '#base/units.ts';
import { isUnavailable, type Slot, settledAt, slotsOf } from '#statefulset/slot.ts';
import { planGate } from './plan-gate.ts';
import { goesOn, held, type Outcome, type Pass, setPartition } from './plan-outcome.ts';
import { leftUntilStuck, planStuckPod } from './plan-stuck.ts';
import type { Step, StepStatus } from './status.ts';

/** How long until a pod is looked for again that is not there yet (R34). */
const podRetry = seconds(30);

/** What is done while a rollout is under way, step by step (R32 to R37). */
export function planRollout(pass: Pass): Outcome {
  const ready = { reason: 'Ready', message: 'It can be rolled out' };
  const outcome = planUnderWay(pass);
  const conditions = { Ready: { status: 'True', because: ready }, ...outcome.conditions } as const;
  return { ...outcome, conditions };
}

function planUnderWay(pass: Pass): Outcome {
  const { snapshot, target } = pass;
  const { set } = target;
  const { partition, replicas } = set.spec;
  if (partition === 0) {
    return held('AwaitingPromotion', `${set.name} has nothing left to check`);
  }
  // No pod is let go by that, and no check is spent on pods that are not there any more (T56).
  if (partition > replicas) {
    const message = `${set.name} has ${replicas} replicas only`;
    return { decisions: [setPartition(pass, replicas, { reason: 'SetShrunk', message })] };
  }
  if (set.status.observedGeneration < set.generation) {
    return held('RevisionUnknown', `The newest spec of ${set.name} is not observed yet`);
  }
  const { step } = snapshot.resource.status;
  if (step?.partition !== partition) {
    return advanced(pass, stepAt(partition, 'WaitForPodToBeUpdated'));
  }
  return planStep(pass, step);
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
      return planGate(pass, step);
    default:
      return assertNever(step.status);
  }
}

/** A step of which nothing is counted yet. */
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

function advanced(pass: Pass, step: Step): Outcome {
  const because = { reason: 'Rolling', message: stepText(pass, step) };
  const conditions = { Updated: { status: 'False', because } } as const;
  return goesOn(pass, { ...pass.snapshot.resource.status, step }, { conditions });
}

/** What `step` waits for; of a check that was counted before it nothing is left. */
function stepText({ target: { set } }: Pass, { status, partition }: Step): string {
  const podAt = (index: number): string => `${set.name}-${set.spec.ordinalsStart + index}`;
  const end = `before ${podAt(partition - 1)} may run ${set.status.updateRevision}`;
  if (status === 'WaitForPodToBeUpdated' && partition < set.spec.replicas) {
    return `${podAt(partition)} is to run ${set.status.updateRevision}`;
  }
  return status === 'WaitForInitialDelay'
    ? `All pods are available; the delay and the checks follow ${end}`
    : `All pods are to be available ${end}`;
}

function slotsIn({ snapshot, target, now }: Pass): readonly Slot[] {
  const { leaving, watched } = snapshot;
  return slotsOf({ set: target.set, pods: target.pods, leaving, watched }, now);
}

/** The pod that the last step let go is to run the new revision; a partition counts from the first ordinal (W6). */
function planPodWait(pass: Pass, { partition }: Step): Outcome {
  const { set } = pass.target;
  const slots = slotsIn(pass);
  const slot = partition < set.spec.replicas ? slots[partition] : undefined;
  const isUpdated =
    slot === undefined ||
    (slot.kind !== 'missing' && slot.pod.revision === set.status.updateRevision);
  if (isUpdated) return advanced(pass, stepAt(partition, 'WaitForAllPodsToBeAvailable'));
  const message = `${set.name}-${slot.ordinal} does not run ${set.status.updateRevision} yet`;
  return planStuckPod(pass, slots) ?? held('AwaitingPod', message, after(pass.now, podRetry));
}

/** All pods are to be available, each by what it says itself and not by a count that may be old (W19). */
function planAvailability(pass: Pass, { partition }: Step): Outcome {
  const slots = slotsIn(pass);
  const missing = slots.filter(isUnavailable);
  if (missing.length === 0) {
    return advanced(pass, stepAt(partition, 'WaitForInitialDelay', pass.now));
  }
  const stuck = planStuckPod(pass, slots);
  if (stuck !== undefined) return stuck;
  const names = missing.slice(0, 3).map(({ ordinal }) => `${pass.target.set.name}-${ordinal}`);
  const message = `${missing.length} pods are not available: ${names.join(', ')}`;
  return held('AwaitingAvailability', message, nextLook(pass, missing));
}

function nextLook(pass: Pass, unavailable: readonly Slot[]): Instant | undefined {
  const left = leftUntilStuck(pass, unavailable);
  return left === undefined ? settledAt(unavailable) : after(pass.now, millis(left));
}
