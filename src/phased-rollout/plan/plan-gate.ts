import { assertNever } from '#base/assert-never.ts';
import { problemText } from '#base/parsed.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { after } from '#base/units.ts';
import type { CheckAnswer } from '#check/answer.ts';
import type { CheckState } from '#check/check-state.ts';
import {
  type Check,
  type CheckPlan,
  type CheckSettings,
  type CheckView,
  checkOf,
  countAnswer,
  planCheck,
} from '#check/plan-check.ts';
import type { PhasedRolloutSpec } from '../api.ts';
import type { PhasedSnapshot } from '../snapshot.ts';
import { checkStateOf, type Step } from '../status.ts';
import { planUnavailable } from './plan-availability.ts';
import type { PhasedDecision } from './plan-decision.ts';
import { planFailure } from './plan-failure.ts';
import {
  goesOn,
  held,
  nameAt,
  type Outcome,
  type Pass,
  setPartition,
  unlessHeld,
} from './plan-outcome.ts';

/**
 * Returns how far the answers of the step have come that `snapshot` is in, errors of this process among them; undefined
 * while nothing is asked. What was counted for another set, revision or step is not in it.
 */
export function gateStateOf(
  snapshot: Pick<PhasedSnapshot, 'resource' | 'target'> & {
    readonly gate: Pick<PhasedSnapshot['gate'], 'memory'>;
  },
): CheckState | undefined {
  const { resource, target, gate } = snapshot;
  const { step } = resource.status;
  if (step === undefined || target === undefined) return undefined;
  const { uid, status } = target.set;
  const state = checkStateOf(step, `${uid}/${status.updateRevision}`);
  if (state === undefined || gate.memory?.subject !== state.subject) return state;
  const { errors, lastError } = gate.memory;
  return { ...state, errors, ...(lastError !== undefined && { lastError }) };
}

/** Returns what is done while the check of `step` decides: count what was answered, ask, wait, or let the next pod go. */
export function planGate(pass: Pass, step: Step): Outcome {
  const { snapshot, spec } = pass;
  const check = checkOf(settingsOf(spec));
  if (check.kind === 'invalid') return held('InvalidSpec', problemText(check.problem));
  const state = gateStateOf(snapshot);
  // A stored step whose begin cannot be read waits for its pods again.
  if (state === undefined) {
    const again = { ...step, status: 'WaitForAllPodsToBeAvailable', lastCheck: undefined } as const;
    return goesOn(pass, { ...snapshot.resource.status, step: again });
  }
  const view = viewOf(pass, state);
  const { answer } = snapshot.gate;
  const counted = answer === undefined ? undefined : countAnswer(check.value, view, answer);
  if (answer !== undefined && counted?.kind === 'counted') {
    const sight = { check: check.value, view: { ...view, state: counted.state } };
    return stored(pass, { step, sight, answer });
  }
  const failing = failingOf(snapshot, state);
  const memory = { ...state, ...(failing !== undefined && { failing }) };
  return { memory, ...planNext(pass, step, { check: check.value, view }) };
}

function viewOf({ snapshot, now }: Pass, state: CheckState): CheckView {
  const { steady, known, questionId, asked } = snapshot.gate;
  const isAsked = asked?.subject === state.subject && asked.id === questionId;
  return { state, questionId, now, steady, known, isAsked };
}

/**
 * Returns the settings, of a failure budget only those that are written: without one any number of failures is waited out,
 * as at the peer.
 */
function settingsOf({
  initialDelay,
  period,
  successThreshold,
  failureBudget: { consecutiveFailures, totalFailures } = { onFailure: 'Pause' },
}: PhasedRolloutSpec): CheckSettings {
  return {
    initialDelay,
    period,
    passesNeeded: successThreshold,
    ...(consecutiveFailures !== undefined && { mostFailures: consecutiveFailures }),
    ...(totalFailures !== undefined && { mostTotalFailures: totalFailures }),
  };
}

/** Stores a count before anything rests on it; what comes of it is for the next look. */
function stored(
  pass: Pass,
  counted: { readonly step: Step; readonly sight: Sight; readonly answer: CheckAnswer },
): Outcome {
  const { step, sight, answer } = counted;
  const { state } = sight.view;
  const next: Step = {
    ...step,
    status: answer.verdict === 'unknown' ? 'PrometheusError' : 'WaitForChecks',
    lastCheck: state.lastAnswer,
    consecutiveSuccesses: state.passes,
    consecutiveFailures: state.failures,
    totalFailures: state.totalFailures,
  };
  const plan = planCheck(sight.check, sight.view);
  if (plan.kind === 'failed') {
    return { ...planFailure(pass, next, { because: plan.because, answer }), memory: state };
  }
  const status = { ...pass.snapshot.resource.status, step: next };
  const because = { reason: 'Rolling', message: countText(pass, next, answer) };
  const conditions = { Updated: { status: 'False', because } } as const;
  const failing = clauseOf(answer);
  const memory = { ...state, ...(failing !== undefined && { failing }) };
  return goesOn(pass, status, { memory, conditions });
}

/** Returns why the last answer was none that passes, as far as this process knows. */
function failingOf(
  { gate: { memory } }: PhasedSnapshot,
  { subject }: CheckState,
): string | undefined {
  return memory?.subject === subject ? memory.failing : undefined;
}

/** Values differ from answer to answer, and what is reported is reported again whenever it changes. */
function clauseOf({ verdict, because: { reason, message } }: CheckAnswer): string | undefined {
  if (verdict === 'passes') return undefined;
  return reason === 'OutOfBounds' ? 'a value is outside of its bounds' : message;
}

/** Returns how far the step has come, and what was answered last. */
function countText({ target, spec }: Pass, step: Step, { value, because }: CheckAnswer): string {
  const { set } = target;
  const next = nameAt(set, step.partition - 1);
  const seen = value === undefined ? '' : `, value ${value}`;
  return (
    `${step.consecutiveSuccesses} of ${spec.successThreshold} checks in a row have passed before ${next} ` +
    `may run ${set.status.updateRevision}; the last answer: ${because.message}${seen}`
  );
}

interface Sight {
  readonly check: Check;
  readonly view: CheckView;
}

function planNext(pass: Pass, step: Step, { check, view }: Sight): Outcome {
  const plan = planCheck(check, view);
  switch (plan.kind) {
    case 'passed':
      return planUnavailable(pass, step) ?? planRelease(pass, step);
    case 'failed':
      return planFailure(pass, step, plan);
    case 'wait':
      return planWait(pass, step, plan);
    case 'ask':
      return planQuestion(pass, step, view);
    default:
      return assertNever(plan);
  }
}

/** Lets one pod more be updated: by one, whatever `maxUnavailable` says. */
function planRelease(pass: Pass, step: Step): Outcome {
  const { set } = pass.target;
  const to = step.partition - 1;
  const message =
    `${step.consecutiveSuccesses} checks in a row have passed, so ${nameAt(set, to)} ` +
    `may run ${set.status.updateRevision}`;
  return unlessHeld(pass.snapshot, 'gated', () => ({
    decisions: [setPartition(pass, to, { reason: 'CheckPassed', message })],
  }));
}

function planWait(
  { snapshot, now }: Pass,
  step: Step,
  plan: Extract<CheckPlan, { kind: 'wait' }>,
): Outcome {
  const until = after(now, plan.remaining);
  if (plan.for === 'initial-delay') {
    const message = `All pods are available; the first check waits until ${formatUtcSeconds(until)}`;
    return held('InitialDelay', message, until);
  }
  // One sentence for both, as it is reported again whenever it changes: the counts of the status have the rest.
  const waiting = 'The next check is in progress, or is not due yet';
  const why = snapshot.gate.memory?.failing ?? formerly(step);
  return held('AwaitingCheck', why === undefined ? waiting : `${waiting}; the last: ${why}`, until);
}

/** Returns what the status says of the last answer, which may have come to an earlier process. */
function formerly({ status, consecutiveFailures }: Step): string | undefined {
  if (status === 'PrometheusError') return 'it had no answer, as the condition Updated says';
  return consecutiveFailures > 0 ? 'it failed, as the condition Updated says' : undefined;
}

function planQuestion(pass: Pass, step: Step, view: CheckView): Outcome {
  const { resource, gate } = pass.snapshot;
  const { problem } = gate;
  if (problem !== undefined) {
    const isNew = step.status !== 'PrometheusError';
    const event: PhasedDecision = { kind: 'tell', type: 'Warning', because: problem };
    const hold: PhasedDecision = { kind: 'hold', because: problem };
    return {
      status: { ...resource.status, step: { ...step, status: 'PrometheusError' } },
      decisions: [...(isNew ? [event] : []), hold],
    };
  }
  const question = { subject: view.state.subject, id: view.questionId };
  const because = { reason: 'CheckDue', message: 'The next check is due' } as const;
  const isFirst = step.status === 'WaitForInitialDelay' || step.status === 'Paused';
  return {
    status: {
      ...resource.status,
      step: isFirst ? { ...step, status: 'WaitForChecks' } : step,
    },
    decisions: [{ kind: 'ask', question, because }],
  };
}
