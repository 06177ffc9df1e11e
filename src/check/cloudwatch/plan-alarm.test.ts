import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { instant } from '#base/units.ts';
import type { Alarm, AlarmsRead } from './alarm.ts';
import { alarmQuestionId, judgeAlarm, nameProblem } from './plan-alarm.ts';

const since = instant(Date.parse('2026-01-31T12:00:00Z'));

function read(...alarms: readonly Alarm[]): AlarmsRead {
  return { kind: 'alarms', region: 'eu-west-1', alarms };
}

describe('judgeAlarm()', () => {
  const cases: Readonly<
    Record<string, { read: AlarmsRead; verdict: string; reason: string; message: string }>
  > = {
    'lets OK pass': {
      read: read({ name: 'a', state: 'OK', reason: 'below 5', since }),
      verdict: 'passes',
      reason: 'AsWanted',
      message: 'alarm "a" is in state OK since 2026-01-31T12:00:00Z: below 5',
    },
    'lets ALARM fail, with its reason and since when': {
      read: read({ name: 'a', state: 'ALARM', reason: 'above 5', since }),
      verdict: 'fails',
      reason: 'InAlarm',
      message: 'alarm "a" is in state ALARM since 2026-01-31T12:00:00Z: above 5',
    },
    'lets ALARM fail that says nothing of itself': {
      read: read({ name: 'a', state: 'ALARM' }),
      verdict: 'fails',
      reason: 'InAlarm',
      message: 'alarm "a" is in state ALARM',
    },
    'lets INSUFFICIENT_DATA pass, and tells of it': {
      read: read({ name: 'a', state: 'INSUFFICIENT_DATA', reason: 'no datapoints', since }),
      verdict: 'passes',
      reason: 'InsufficientData',
      message: 'alarm "a" is in state INSUFFICIENT_DATA since 2026-01-31T12:00:00Z: no datapoints',
    },
    'does not know of an alarm that is not there': {
      read: read({ name: 'A', state: 'OK' }),
      verdict: 'unknown',
      reason: 'NoSuchAlarm',
      message: 'CloudWatch knows no alarm "a" in "eu-west-1"',
    },
    'does not know of two alarms of one name': {
      read: read({ name: 'a', state: 'OK' }, { name: 'a', state: 'OK' }),
      verdict: 'unknown',
      reason: 'SeveralValues',
      message: 'CloudWatch knows 2 alarms "a", where one was expected',
    },
    'does not know of a state that is none': {
      read: read({ name: 'a', state: 'ok' }),
      verdict: 'unknown',
      reason: 'Unreadable',
      message:
        'the state of alarm "a" is "ok", which is not one of OK, ALARM and INSUFFICIENT_DATA',
    },
    'does not know where there was an error': {
      read: { kind: 'error', reason: 'Throttled', message: 'Cannot ask CloudWatch: too often' },
      verdict: 'unknown',
      reason: 'Throttled',
      message: 'Cannot ask CloudWatch: too often',
    },
  };
  for (const [name, { read, verdict, reason, message }] of Object.entries(cases)) {
    test(name, () => {
      const finding = judgeAlarm('a', read);
      assert.equal(finding.verdict, verdict);
      assert.deepEqual(finding.because, { reason, message });
    });
  }

  test('repeats only the begin of a long reason', () => {
    const long = read({ name: 'a', state: 'ALARM', reason: 'x'.repeat(1_023) });
    const { message } = judgeAlarm('a', long).because;
    assert.equal(message, `alarm "a" is in state ALARM: ${'x'.repeat(300)}…`);
  });
});

describe('nameProblem()', () => {
  const wrong: Readonly<Record<string, string>> = {
    'an empty name': '',
    'a name of 256 characters': 'x'.repeat(256),
    'a control character': 'a\u0000b',
    'a line break': 'a\nb',
    'half a character': 'a\ud800',
  };
  for (const [name, text] of Object.entries(wrong)) {
    test(`refuses ${name}`, () => {
      const finding = nameProblem(text);
      assert.equal(finding?.verdict, 'unknown');
      assert.equal(finding.because.reason, 'BadConfiguration');
      assert.match(finding.because.message, /^Cannot ask for the alarm ".*: its name must /);
    });
  }

  for (const text of ['a', 'x'.repeat(255), 'Pause Deployment.Ingesters/ü 😀']) {
    test(`takes ${text.length} characters of ${text.slice(0, 5)}`, () => {
      assert.equal(nameProblem(text), undefined);
    });
  }
});

test('alarmQuestionId() names each alarm otherwise', () => {
  assert.notEqual(alarmQuestionId('a'), alarmQuestionId('b'));
});
