import { after, type Millis, millis, seconds } from '#base/units.ts';
import type { QuestionKey } from '#check/answer.ts';
import { held, type Outcome, type Pass, refreshed, stepOf } from './plan-outcome.ts';
import type { Candidates } from './plan-step.ts';
import { mergedCounts } from './status.ts';

/** How long an answer says how things are, and how soon is asked again (ZAU-29). */
const alarmPeriod: Millis = seconds(10);

/** What keeps the next step while an alarm decides; undefined where it does not ring, or none is named (ZAU-47). */
export function planAlarm(pass: Pass, { counts }: Candidates): Outcome | undefined {
  const { snapshot, target, spec, now } = pass;
  if (spec.alarm === undefined) return undefined;
  const { answer, questionId, steady } = snapshot.alarm;
  const { uid, status } = target.set;
  const question = { subject: `${uid}/${status.updateRevision}/${stepOf(pass)}`, id: questionId };
  const isOfNow = answer !== undefined && isSame(answer.question, question);
  const left = isOfNow ? answer.askedAt + alarmPeriod - steady : 0;
  if (!isOfNow || left <= 0) return planQuestion(pass, spec.alarm, question);
  if (answer.verdict === 'passes') return undefined;
  const until = after(now, millis(left));
  const { message } = answer.because;
  if (answer.verdict === 'unknown') return held('AlarmUnknown', message, until);
  const paused = refreshed(pass, {
    isPaused: true,
    updateStep: stepOf(pass),
    oldReplicas: mergedCounts(snapshot.resource.status.oldReplicas, counts),
  });
  return { ...held('AlarmRings', message, until), statusAfter: () => paused };
}

function planQuestion({ snapshot }: Pass, alarm: string, question: QuestionKey): Outcome {
  const { asked } = snapshot.alarm;
  const waiting = held('AwaitingAlarm', `The state of ${alarm} is being asked`);
  if (asked !== undefined && isSame(asked, question)) return waiting;
  const because = { reason: 'AlarmDue', message: `Is ${alarm} ringing?` } as const;
  return { ...waiting, decisions: [{ kind: 'ask', question, because }] };
}

function isSame(one: QuestionKey, other: QuestionKey): boolean {
  return one.subject === other.subject && one.id === other.id;
}
