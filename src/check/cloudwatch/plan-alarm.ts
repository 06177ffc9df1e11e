import { quoted } from '#base/text/quoted.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import type { CheckReason, CheckVerdict, Finding } from '../answer.ts';
import type { Alarm, AlarmsRead } from './alarm.ts';

/** Longest name of an alarm. */
const longestName = 255;
/** Longest part of a reason that a message repeats. */
const longestReason = 300;

/**
 * Returns why no alarm can have this name; undefined where one can. One such name makes CloudWatch refuse a question for
 * many alarms as a whole, so that it must not be asked for.
 */
export function nameProblem(name: string): Finding | undefined {
  const why = whyNoName(name);
  if (why === undefined) return undefined;
  return unknown('BadConfiguration', `Cannot ask for the alarm ${quoted(name)}: ${why}`);
}

function whyNoName(name: string): string | undefined {
  if (name.length === 0) return 'its name must not be empty';
  if (name.length > longestName) {
    return `its name must have at most ${longestName} characters: got ${name.length}`;
  }
  const isText = name.isWellFormed() && !/\p{Cc}/u.test(name);
  return isText ? undefined : 'its name must have no control characters and no halves of others';
}

/** Returns what names the question for an alarm among others, see `QuestionKey`. */
export function alarmQuestionId(name: string): string {
  return `alarm:${name}`;
}

/** Judges what was read for `name`: only OK and INSUFFICIENT_DATA pass, only ALARM fails. */
export function judgeAlarm(name: string, read: AlarmsRead): Finding {
  if (read.kind === 'error') return unknown(read.reason, read.message);
  const [alarm, ...others] = read.alarms.filter((each) => each.name === name);
  if (alarm === undefined) {
    const message = `CloudWatch knows no alarm ${quoted(name)} in ${quoted(read.region)}`;
    return unknown('NoSuchAlarm', message);
  }
  if (others.length === 0) return judgeState(alarm);
  const message = `CloudWatch knows ${others.length + 1} alarms ${quoted(name)}, where one was expected`;
  return unknown('SeveralValues', message);
}

function judgeState(alarm: Alarm): Finding {
  const { name, state } = alarm;
  const text = `alarm ${quoted(name)} ${stateText(alarm)}`;
  switch (state) {
    case 'OK':
      return known('passes', state, { reason: 'AsWanted', message: text });
    case 'INSUFFICIENT_DATA':
      return known('passes', state, { reason: 'InsufficientData', message: text });
    case 'ALARM':
      return known('fails', state, { reason: 'InAlarm', message: text });
    default: {
      const wanted = 'which is not one of OK, ALARM and INSUFFICIENT_DATA';
      return unknown(
        'Unreadable',
        `the state of alarm ${quoted(name)} is ${quoted(state)}, ${wanted}`,
      );
    }
  }
}

function stateText({ state, since, reason = '' }: Alarm): string {
  const when = since === undefined ? '' : ` since ${formatUtcSeconds(since)}`;
  const why = reason.length > longestReason ? `${reason.slice(0, longestReason)}…` : reason;
  return `is in state ${state}${when}${why === '' ? '' : `: ${why}`}`;
}

function known(verdict: CheckVerdict, value: string, because: Finding['because']): Finding {
  return { verdict, value, warnings: [], because };
}

function unknown(reason: CheckReason, message: string): Finding {
  return { verdict: 'unknown', warnings: [], because: { reason, message } };
}
