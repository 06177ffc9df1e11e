import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type Monotonic, millis, monotonic } from '#base/units.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { FakeAlarms } from '#support/external-services/fake-alarms.ts';
import type { Finding } from '../answer.ts';
import { OpenQuestions } from '../open-questions.ts';
import { type AlarmAsking, Alarms } from './alarms.ts';

/** A question, and what has come of it. */
interface Asked {
  finding?: Finding;
  at?: Monotonic;
}

function hasCome({ finding }: Asked): boolean {
  return finding !== undefined;
}

describe('Alarms', () => {
  let clock: FakeClock;
  let source: FakeAlarms;
  let alarms: Alarms;

  beforeEach(() => {
    clock = new FakeClock();
    source = new FakeAlarms();
    alarms = new Alarms({ clock, source });
  });

  afterEach(() => alarms.close());

  function ask(name: string, asking: Partial<AlarmAsking> = {}): Asked {
    const asked: Asked = {};
    const sent = (at: Monotonic): void => {
      asked.at = at;
    };
    const { signal } = new AbortController();
    void alarms.ask(name, { signal, sent, ...asking }).then((finding) => {
      asked.finding = finding;
    });
    return asked;
  }

  test('calls nothing where no key asks', async () => {
    await clock.advance(60_000);
    assert.equal(source.calls.length, 0);
    source.states.set('a', 'OK');
    ask('a');
    await clock.advance(3_600_000);
    assert.equal(source.calls.length, 1);
    assert.deepEqual(clock.pending(), []);
  });

  test('calls at most once in 10 s for 100 resources that name 20 alarms', async () => {
    const names = Array.from({ length: 20 }, (_, at) => `alarm-${String(at).padStart(2, '0')}`);
    for (const name of names) source.states.set(name, 'OK');
    const starts: number[] = [];
    const describeAlarms = source.describe.bind(source);
    source.describe = async (all, signal) => {
      starts.push(clock.monotonic());
      return describeAlarms(all, signal);
    };
    let answers = 0;
    const { signal } = new AbortController();
    // Each resource asks again 700 ms after its last answer, for five minutes.
    const resource = async (name: string): Promise<void> => {
      while (clock.monotonic() < 300_000) {
        const { verdict } = await alarms.ask(name, { signal });
        assert.equal(verdict, 'passes');
        answers += 1;
        const pause = Promise.withResolvers<void>();
        clock.timer(millis(700), pause.resolve);
        await pause.promise;
      }
    };
    const all = names.flatMap((name) => Array.from({ length: 5 }, () => resource(name)));
    await clock.advance(310_000);
    await Promise.all(all);
    for (const [at, start] of starts.slice(1).entries()) {
      assert.ok(start - (starts[at] ?? 0) >= 10_000, `calls at ${starts[at]} and ${start}`);
    }
    assert.ok(starts.length <= 31 && starts.length >= 28, `${starts.length} calls`);
    for (const call of source.calls) assert.deepEqual(call, names);
    assert.ok(answers > 10_000, `${answers} answers`);
  });

  test('asks for 100 alarms in one call', async () => {
    for (let at = 0; at < 100; at += 1) ask(`alarm-${at}`);
    await clock.advance(1_000);
    assert.deepEqual(
      source.calls.map(({ length }) => length),
      [100],
    );
  });

  test('asks for more alarms in calls of 100', async () => {
    const asked = Array.from({ length: 201 }, (_, at) => {
      source.states.set(`alarm-${at}`, 'OK');
      return ask(`alarm-${at}`);
    });
    await clock.advance(1_000);
    assert.deepEqual(
      source.calls.map(({ length }) => length),
      [100, 100, 1],
    );
    for (const { finding } of asked) assert.equal(finding?.verdict, 'passes');
  });

  test('gives what it keeps at once, and says how old it is', async () => {
    source.states.set('a', 'OK');
    const first = ask('a');
    await clock.advance(100);
    assert.equal(first.finding?.verdict, 'passes');
    await clock.advance(9_900);
    source.states.set('a', 'ALARM');
    const second = ask('a');
    await clock.settle();
    assert.equal(second.finding?.verdict, 'passes');
    assert.equal(second.at, first.at);
    assert.equal(second.at, 100);
    await clock.advance(200);
    const third = ask('a');
    await clock.advance(100);
    assert.equal(third.finding?.verdict, 'fails');
    assert.equal(third.at, 10_300);
  });

  test('waits for the next round where what it keeps was asked for too early', async () => {
    source.states.set('a', 'OK');
    ask('a');
    await clock.advance(5_000);
    source.states.set('a', 'ALARM');
    const asked = ask('a', { notBefore: monotonic(5_000) });
    await clock.advance(5_099);
    assert.equal(hasCome(asked), false);
    await clock.advance(1);
    assert.equal(asked.finding?.verdict, 'fails');
    assert.equal(asked.at, 10_100);
    assert.equal(source.calls.length, 2);
  });

  test('does not take a round that began too early, though its answer is still to come', async () => {
    source.isSilent = true;
    ask('a');
    await clock.advance(1_000);
    source.isSilent = false;
    source.states.set('a', 'ALARM');
    const asked = ask('a', { notBefore: monotonic(1_000) });
    await clock.advance(7_200);
    assert.equal(hasCome(asked), false);
    await clock.advance(2_000);
    assert.equal(asked.finding?.verdict, 'fails');
  });

  test('asks in the next round for a name that is new, with all others', async () => {
    for (const name of ['a', 'b']) source.states.set(name, 'OK');
    ask('a');
    await clock.advance(1_000);
    const late = ask('b');
    await clock.advance(9_000);
    assert.equal(hasCome(late), false);
    await clock.advance(100);
    assert.equal(late.finding?.verdict, 'passes');
    assert.deepEqual(source.calls, [['a'], ['a', 'b']]);
  });

  test('asks no more for what no key asked for in 10 minutes', async () => {
    ask('a');
    await clock.advance(600_200);
    ask('b');
    await clock.advance(200);
    assert.deepEqual(source.calls, [['a'], ['b']]);
  });

  test('asks for an unknown alarm again after 10 s, and passes once it is there', async () => {
    const first = ask('a');
    await clock.advance(100);
    assert.equal(first.finding?.verdict, 'unknown');
    assert.equal(first.finding.because.reason, 'NoSuchAlarm');
    source.states.set('a', 'OK');
    await clock.advance(10_000);
    const second = ask('a');
    await clock.advance(100);
    assert.equal(second.finding?.verdict, 'passes');
  });

  test('asks again after 10 s where there was an error, and not before', async () => {
    source.failure = { kind: 'error', reason: 'Throttled', message: 'too often' };
    ask('a');
    await clock.advance(5_000);
    const again = ask('a');
    await clock.settle();
    assert.equal(again.finding?.because.reason, 'Throttled');
    assert.equal(source.calls.length, 1);
    source.failure = undefined;
    source.states.set('a', 'OK');
    await clock.advance(5_200);
    const after = ask('a');
    await clock.advance(100);
    assert.equal(after.finding?.verdict, 'passes');
  });

  test('waits 8 s for a round, and says so', async () => {
    source.isSilent = true;
    const asked = ask('a');
    await clock.advance(8_099);
    assert.equal(hasCome(asked), false);
    await clock.advance(1);
    assert.equal(asked.finding?.verdict, 'unknown');
    assert.deepEqual(asked.finding.because, {
      reason: 'TimedOut',
      message: 'Cannot ask CloudWatch: no whole answer within 8000 ms',
    });
  });

  test('does not let a name that is none spoil the call for others', async () => {
    source.states.set('a', 'OK');
    const [bad, good] = [ask(''), ask('a')];
    await clock.advance(100);
    assert.equal(bad.finding?.because.reason, 'BadConfiguration');
    assert.equal(good.finding?.verdict, 'passes');
    assert.deepEqual(source.calls, [['a']]);
  });

  test('asks once for each of 100 names where one is refused, and then apart from that one', async () => {
    const names = Array.from({ length: 99 }, (_, at) => `alarm-${at}`);
    for (const name of names) source.states.set(name, 'OK');
    source.refused.add('bad');
    const round = async (): Promise<readonly number[]> => {
      const before = source.calls.length;
      const asked = [...names, 'bad'].map((name) => ask(name));
      await clock.advance(10_100);
      const passed = asked.filter(({ finding }) => finding?.verdict === 'passes');
      assert.equal(passed.length, names.length);
      return source.calls.slice(before).map(({ length }) => length);
    };
    assert.deepEqual(await round(), [100, ...Array.from({ length: 100 }, () => 1)]);
    assert.deepEqual(await round(), [99, 1]);
  });

  test('calls nothing where all who asked have given up', async () => {
    const ending = new AbortController();
    const asked = ask('a', { signal: ending.signal });
    ending.abort();
    await clock.advance(1_000);
    assert.equal(asked.finding?.because.reason, 'GivenUp');
    assert.equal(source.calls.length, 0);
    assert.deepEqual(clock.pending(), []);
  });

  test('answers the others where one who asked has given up', async () => {
    source.states.set('a', 'OK');
    const ending = new AbortController();
    const [gone, other] = [ask('a', { signal: ending.signal }), ask('a')];
    ending.abort();
    await clock.advance(100);
    assert.equal(gone.finding?.because.reason, 'GivenUp');
    assert.equal(other.finding?.verdict, 'passes');
  });

  test('gives up all questions when it is closed, and answers no more', async () => {
    source.isSilent = true;
    const [running, waiting] = [ask('a'), ask('b', { notBefore: monotonic(5_000) })];
    await clock.advance(1_000);
    await alarms.close();
    await clock.settle();
    assert.equal(running.finding?.because.reason, 'GivenUp');
    assert.equal(waiting.finding?.because.reason, 'GivenUp');
    assert.ok(source.isClosed);
    const late = ask('a');
    await clock.settle();
    assert.equal(late.finding?.because.reason, 'GivenUp');
    assert.deepEqual(clock.pending(), []);
  });

  test('answers questions of OpenQuestions with the age of what it keeps', async () => {
    source.states.set('a', 'ALARM');
    const answered: string[] = [];
    const questions = new OpenQuestions({ clock, onAnswer: (owner) => answered.push(owner) });
    const question = { subject: 's', id: 'alarm:a' };
    const forAlarm = (signal: AbortSignal, sent: (at?: Monotonic) => void): Promise<Finding> =>
      alarms.ask('a', { signal, sent });
    questions.ask('one', question, forAlarm);
    await clock.advance(4_000);
    questions.ask('two', question, forAlarm);
    await clock.settle();
    assert.deepEqual(answered, ['one', 'two']);
    assert.equal(questions.answerFor('two')?.askedAt, 100);
    assert.equal(questions.answerFor('two')?.verdict, 'fails');
    await questions.close();
  });
});
