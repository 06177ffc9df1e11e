import { assertNever } from '#base/assert-never.ts';
import { quoted } from '#base/text/quoted.ts';
import { after, type Millis, millis, seconds } from '#base/units.ts';
import type { QuestionKey } from '#check/answer.ts';
import { sooner } from '#control/plan/group-plan.ts';
import type { GateKind, GateSight } from '../snapshot.ts';
import { mergedCounts } from '../status.ts';
import type { UpdateReason } from './plan-decision.ts';
import { held, type Outcome, type Pass, refreshed, stepOf } from './plan-outcome.ts';
import type { Candidates } from './plan-step.ts';

/** How long an answer says how things are, and how soon is asked again (ZAU-29). */
const answerPeriod: Millis = seconds(10);

/** Longest part of a query that a message repeats. */
const longestShown = 200;

/** Something outside that may hold the next step. */
interface Gate {
  readonly kind: GateKind;
  /** What is asked for, to people. */
  readonly text: string;
  readonly sight: GateSight;
}

/** How one gate holds the next step. */
interface Closed {
  readonly by: 'fails' | 'unknown' | 'awaited';
  readonly outcome: Outcome;
}

const told: readonly Closed['by'][] = ['fails', 'unknown', 'awaited'];

/**
 * Returns what keeps the next step while an alarm or a query decides; undefined where neither is named, or neither does
 * (ZAU-47). Both are asked at once, and both must let the step go.
 */
export function planGates(pass: Pass, candidates: Candidates): Outcome | undefined {
  const closed = gatesOf(pass).flatMap((gate) => planGate(pass, gate, candidates) ?? []);
  const asks = closed.flatMap(({ outcome }) =>
    outcome.decisions.filter(({ kind }) => kind === 'ask'),
  );
  const [first] = told.flatMap((by) => closed.filter((each) => each.by === by));
  if (first === undefined) return undefined;
  const holds = first.outcome.decisions.filter(({ kind }) => kind === 'hold');
  return {
    ...first.outcome,
    decisions: [...asks, ...holds],
    requeue: closed.map(({ outcome }) => outcome.requeue).reduce(sooner),
  };
}

function gatesOf({ snapshot: { gates }, spec: { alarm, query } }: Pass): readonly Gate[] {
  const found: Gate[] = [];
  if (alarm !== undefined) {
    found.push({ kind: 'alarm', text: `the state of alarm ${quoted(alarm)}`, sight: gates.alarm });
  }
  if (query !== undefined) {
    const { expr } = query.candidate;
    const shown = expr.length > longestShown ? `${expr.slice(0, longestShown)}…` : expr;
    found.push({ kind: 'query', text: `the value of ${quoted(shown)}`, sight: gates.query });
  }
  return found;
}

function planGate(pass: Pass, gate: Gate, { counts }: Candidates): Closed | undefined {
  const { target, now, snapshot } = pass;
  const { answer, questionId, steady } = gate.sight;
  const { uid, status } = target.set;
  const question = { subject: `${uid}/${status.updateRevision}/${stepOf(pass)}`, id: questionId };
  const isOfNow = answer !== undefined && isSame(answer.question, question);
  const left = isOfNow ? answer.askedAt + answerPeriod - steady : 0;
  if (!isOfNow || left <= 0) return { by: 'awaited', outcome: planQuestion(gate, question) };
  if (answer.verdict === 'passes') return undefined;
  const until = after(now, millis(left));
  const { message } = answer.because;
  const reasons = reasonsOf(gate.kind);
  if (answer.verdict === 'unknown') {
    return { by: 'unknown', outcome: held(reasons.unknown, message, until) };
  }
  const paused = refreshed(pass, {
    isPaused: true,
    updateStep: stepOf(pass),
    oldReplicas: mergedCounts(snapshot.resource.status.oldReplicas, counts),
  });
  return {
    by: 'fails',
    outcome: { ...held(reasons.fails, message, until), statusAfter: () => paused },
  };
}

function planQuestion({ kind, text, sight }: Gate, question: QuestionKey): Outcome {
  const { due, awaited } = reasonsOf(kind);
  const waiting = held(awaited, `Waiting for ${text}`);
  if (sight.asked !== undefined && isSame(sight.asked, question)) return waiting;
  const because = { reason: due, message: `The next step depends on ${text}` };
  return { ...waiting, decisions: [{ kind: 'ask', gate: kind, question, because }] };
}

type Reasons = Readonly<Record<'due' | Closed['by'], UpdateReason>>;

function reasonsOf(kind: GateKind): Reasons {
  switch (kind) {
    case 'alarm':
      return {
        due: 'AlarmDue',
        awaited: 'AwaitingAlarm',
        fails: 'AlarmRings',
        unknown: 'AlarmUnknown',
      };
    case 'query':
      return {
        due: 'QueryDue',
        awaited: 'AwaitingQuery',
        fails: 'QueryFails',
        unknown: 'QueryUnknown',
      };
    default:
      return assertNever(kind);
  }
}

function isSame(one: QuestionKey, other: QuestionKey): boolean {
  return one.subject === other.subject && one.id === other.id;
}
