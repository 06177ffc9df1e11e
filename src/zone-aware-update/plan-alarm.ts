import { after, type Millis, millis, seconds } from '#base/units.ts';
import { held, type Outcome, type Pass, refreshed, stepOf } from './plan-outcome.ts';
import type { Candidates } from './plan-step.ts';
import { mergedCounts } from './status.ts';

/** How long an answer says how things are, and how soon is asked again (ZAU-29). */
const alarmPeriod: Millis = seconds(10);

/** What keeps the next step while an alarm decides; undefined where it does not ring, or none is named (ZAU-47). */
export function planAlarm(pass: Pass, { counts }: Candidates): Outcome | undefined {
  const { snapshot, target, spec, now } = pass;
  if (spec.alarm === undefined) return undefined;
  const { asked, answer, questionId, steady } = snapshot.alarm;
  const { uid, status } = target.set;
  const subject = `${uid}/${status.updateRevision}/${stepOf(pass)}`;
  const isOfNow = answer?.question.subject === subject && answer.question.id === questionId;
  const left = isOfNow ? answer.askedAt + alarmPeriod - steady : 0;
  if (answer !== undefined && left > 0) {
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
  const because = { reason: 'AlarmDue', message: `Is ${spec.alarm} ringing?` } as const;
  const isAsked = asked?.subject === subject && asked.id === questionId;
  if (isAsked) return held('AwaitingAlarm', `The state of ${spec.alarm} is being asked`);
  return {
    ...held('AwaitingAlarm', `The state of ${spec.alarm} is being asked`),
    decisions: [{ kind: 'ask', question: { subject, id: questionId }, because }],
  };
}
