import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { RecordingEvents, RecordingLogger } from '#support/telemetry/recording.ts';
import type { Decision } from './decision.ts';
import { primaryHold } from './primary-hold.ts';
import type { Reason } from './reasons.ts';
import { PlanReporter } from './report-plan.ts';

const set = { namespace: 'test', name: 'ingester-zone-a', uid: 'a-uid' };

function hold(reason: Reason, message = 'because'): Decision {
  return { kind: 'hold', set, because: { reason, message } };
}

function warn(reason: Reason, message: string): Decision {
  return { kind: 'warn', set, because: { reason, message } };
}

const deletion: Decision = {
  kind: 'delete-pod',
  set,
  pod: {
    namespace: 'test',
    name: 'ingester-zone-a-0',
    uid: 'u',
    resourceVersion: '1',
    revision: 'prev-hash',
  },
  costs: 'a-slot',
  maxUnavailable: 2,
  because: { reason: 'PodOutdated', message: 'it is' },
};

function bench(): {
  readonly reporter: PlanReporter;
  readonly log: RecordingLogger;
  readonly events: RecordingEvents;
  readonly clock: FakeClock;
} {
  const log = new RecordingLogger();
  const events = new RecordingEvents();
  const clock = new FakeClock();
  return { reporter: new PlanReporter({ log, events, clock }), log, events, clock };
}

const repetitions: Record<
  string,
  readonly [plans: (readonly Decision[])[], said: readonly string[]]
> = {
  'once while it stays the same': [
    [[hold('ZoneNotReady')], [hold('ZoneNotReady')]],
    ['ZoneNotReady'],
  ],
  'once although the words of a hold change': [
    [[hold('ZoneNotReady', 'one')], [hold('ZoneNotReady', 'two')]],
    ['ZoneNotReady'],
  ],
  'once although it had ended in between': [
    [[hold('ZoneNotReady')], [], [hold('ZoneNotReady')]],
    ['ZoneNotReady'],
  ],
  'beside another one that began': [
    [[hold('ZoneOrder')], [hold('ZoneOrder'), hold('Paused')]],
    ['ZoneOrder', 'Paused'],
  ],
  'once for each text of a warning that a plan has': [
    [[warn('MisplacedKey', 'one'), warn('MisplacedKey', 'two')], [warn('MisplacedKey', 'two')]],
    ['MisplacedKey', 'MisplacedKey'],
  ],
  'not for deletions, which are reported when they are sent': [[[deletion]], []],
};

for (const [how, [plans, said]] of Object.entries(repetitions)) {
  test(`PlanReporter.report() says a thing ${how}`, () => {
    const { reporter, events, log } = bench();
    for (const plan of plans) reporter.report('test/ingester', plan);
    assert.deepEqual(
      events.notes.map((note) => note.reason),
      said,
    );
    assert.deepEqual(
      log.lines.map((line) => line.fields['reason']),
      said,
    );
  });
}

interface Look {
  /** When the plan is reported, after the first report. */
  readonly at: number;
  readonly plan: readonly Decision[];
}

/** What is said after `hold('ZoneNotReady', 'one')` was reported at 0 s: when, and with which words. */
const retellings: Record<string, readonly [looks: readonly Look[], said: readonly string[]]> = {
  'not again while it lasts unchanged for less than 10 min': [
    [{ at: 599, plan: [hold('ZoneNotReady', 'one')] }],
    ['0 one'],
  ],
  'every 10 min while it lasts unchanged': [
    [
      { at: 600, plan: [hold('ZoneNotReady', 'one')] },
      { at: 1_199, plan: [hold('ZoneNotReady', 'one')] },
      { at: 1_200, plan: [hold('ZoneNotReady', 'one')] },
    ],
    ['0 one', '600 one', '1200 one'],
  ],
  'again when it comes back a minute after it was told, not before': [
    [
      { at: 1, plan: [] },
      { at: 59, plan: [hold('ZoneNotReady', 'one')] },
      { at: 59, plan: [] },
      { at: 60, plan: [hold('ZoneNotReady', 'one')] },
    ],
    ['0 one', '60 one'],
  ],
  'at once when its message changes after a minute': [
    [{ at: 60, plan: [hold('ZoneNotReady', 'two')] }],
    ['0 one', '60 two'],
  ],
  'when the minute is over if its message changed within it, in the words of then': [
    [
      { at: 20, plan: [hold('ZoneNotReady', 'two')] },
      { at: 59, plan: [hold('ZoneNotReady', 'three')] },
      { at: 60, plan: [hold('ZoneNotReady', 'three')] },
    ],
    ['0 one', '60 three'],
  ],
  'not again when its message has changed back within the minute': [
    [
      { at: 20, plan: [hold('ZoneNotReady', 'two')] },
      { at: 60, plan: [hold('ZoneNotReady', 'one')] },
    ],
    ['0 one'],
  ],
  'at most once a minute although its message changes all the time': [
    [
      { at: 60, plan: [hold('ZoneNotReady', 'two')] },
      { at: 119, plan: [hold('ZoneNotReady', 'three')] },
      { at: 120, plan: [hold('ZoneNotReady', 'four')] },
    ],
    ['0 one', '60 two', '120 four'],
  ],
  '10 min after it was reported last, whatever it said in between': [
    [
      { at: 300, plan: [hold('ZoneNotReady', 'two')] },
      { at: 899, plan: [hold('ZoneNotReady', 'two')] },
      { at: 900, plan: [hold('ZoneNotReady', 'two')] },
    ],
    ['0 one', '300 two', '900 two'],
  ],
};

for (const [when, [looks, said]] of Object.entries(retellings)) {
  test(`PlanReporter.report() tells a hold ${when} (D-54)`, async () => {
    const { reporter, events, log, clock } = bench();
    const heard: string[] = [];
    for (const { at, plan } of [{ at: 0, plan: [hold('ZoneNotReady', 'one')] }, ...looks]) {
      await clock.advance(seconds(at) - clock.monotonic());
      reporter.report('test/ingester', plan);
      for (const note of events.notes.splice(0)) heard.push(`${at} ${note.message}`);
    }
    assert.deepEqual(heard, said);
    assert.deepEqual(
      log.lines.map(({ fields }) => fields['because']),
      said.map((each) => each.split(' ')[1]),
    );
  });
}

test('PlanReporter.report() tells what a user asked for once, however long it lasts and whatever its words', async () => {
  const { reporter, events, clock } = bench();
  assert.equal(reporter.report('test/ingester', [hold('Paused', 'one')]), undefined);
  await clock.advance(minutes(60));
  assert.equal(reporter.report('test/ingester', [hold('Paused', 'two')]), undefined);
  assert.equal(events.notes.length, 1);
});

test('PlanReporter.report() leaves it to who carries them out to tell of the switch of a revision', () => {
  const { reporter, events } = bench();
  const because = { reason: 'ZoneUpdated', message: 'it is' } as const;
  reporter.report('test/ingester', [{ kind: 'set-current-revision', set, because }]);
  assert.deepEqual(events.notes, []);
});

test('PlanReporter.report() never repeats a warning before its text changes', async () => {
  const { reporter, events, clock } = bench();
  assert.equal(reporter.report('test/ingester', [warn('MisplacedKey', 'one')]), undefined);
  await clock.advance(minutes(60));
  assert.equal(reporter.report('test/ingester', [warn('MisplacedKey', 'one')]), undefined);
  assert.equal(events.notes.length, 1);
});

test('PlanReporter.report() tells a warning whose text changes all the time once a minute, in the newest words', async () => {
  const { reporter, events, clock } = bench();
  const due: unknown[] = [];
  for (let second = 0; second <= 130; second += 1) {
    due.push(reporter.report('test/ingester', [warn('InvalidMaxUnavailable', `text ${second}`)]));
    await clock.advance(seconds(1));
  }
  assert.deepEqual(
    events.notes.map(({ message }) => message),
    ['text 0', 'text 60', 'text 120'],
  );
  assert.deepEqual([due[0], due[1], due[59], due[60]], [undefined, 60_000, 60_000, undefined]);
});

test('PlanReporter.report() tells of a plan that has one warning more only that one, when the minute is over', async () => {
  const { reporter, events, clock } = bench();
  const key = 'test/ingester';
  reporter.report(key, [warn('MisplacedKey', 'one')]);
  const both = [warn('MisplacedKey', 'one'), warn('MisplacedKey', 'two')];
  assert.equal(reporter.report(key, both), 60_000);
  await clock.advance(minutes(1));
  assert.equal(reporter.report(key, both), undefined);
  assert.deepEqual(
    events.notes.map(({ message }) => message),
    ['one', 'two'],
  );
});

test('PlanReporter.report() returns when a hold is due to be reported again', async () => {
  const { reporter, clock } = bench();
  const key = 'test/ingester';
  assert.equal(reporter.report(key, [hold('ZoneNotReady', 'one')]), 600_000);
  await clock.advance(seconds(20));
  assert.equal(reporter.report(key, [hold('ZoneNotReady', 'two')]), 60_000);
  assert.equal(reporter.report(key, [hold('ZoneNotReady', 'one'), hold('ZoneOrder')]), 600_000);
  assert.equal(reporter.report(key, []), undefined);
});

test('PlanReporter.report() tells all that holds one set for one reason, and all of it again', async () => {
  const { reporter, events, clock } = bench();
  const plan = [hold('PodNotPrepared', 'pod 1'), hold('PodNotPrepared', 'pod 0')];
  reporter.report('test/ingester', plan);
  await clock.advance(minutes(10));
  reporter.report('test/ingester', plan);
  assert.deepEqual(
    events.notes.map(({ message }) => message),
    ['pod 1', 'pod 0', 'pod 1', 'pod 0'],
  );
});

test('PlanReporter.report() keeps the keys apart, and forgets one that is gone', () => {
  const { reporter, events } = bench();
  reporter.report('test/a', [hold('ZoneNotReady')]);
  reporter.report('test/b', [hold('ZoneNotReady')]);
  reporter.report('test/a', [hold('ZoneNotReady')]);
  assert.equal(events.notes.length, 2);
  reporter.forget('test/a');
  reporter.report('test/a', [hold('ZoneNotReady')]);
  assert.equal(events.notes.length, 3);
});

test('PlanReporter.report() writes an Event about the set, a warning where a user has to look', () => {
  const { reporter, events, log } = bench();
  reporter.report('test/ingester', [hold('WrongUpdateStrategy', 'it is wrong'), hold('ZoneOrder')]);
  assert.deepEqual(events.notes[0], {
    about: { apiVersion: 'apps/v1', kind: 'StatefulSet', ...set },
    type: 'Warning',
    reason: 'WrongUpdateStrategy',
    message: 'it is wrong',
  });
  assert.equal(events.notes[1]?.type, 'Normal');
  assert.deepEqual(
    log.lines.map((line) => line.level),
    ['warn', 'info'],
  );
});

test('PlanReporter.tell() writes an Event each time', () => {
  const { reporter, events } = bench();
  for (let turn = 0; turn < 2; turn += 1) reporter.tell(set, deletion.because);
  assert.deepEqual(
    events.notes.map(({ type, reason }) => [type, reason]),
    [
      ['Normal', 'PodOutdated'],
      ['Normal', 'PodOutdated'],
    ],
  );
});

const primaries: Record<string, readonly [decisions: readonly Decision[], reason?: Reason]> = {
  'none of an empty plan': [[]],
  'none of a plan that only deletes and warns': [[deletion, warn('MisplacedKey', 'x')]],
  'the only one': [[hold('ZoneOrder')], 'ZoneOrder'],
  'the first that does not follow from another': [
    [hold('Paused'), hold('ZoneOrder'), hold('ZoneNotReady'), hold('MaxUnavailableReached')],
    'ZoneNotReady',
  ],
  'the first when all follow from another': [[hold('Paused'), hold('ZoneOrder')], 'Paused'],
};

for (const [which, [decisions, reason]] of Object.entries(primaries)) {
  test(`primaryHold() is ${which}`, () => {
    assert.equal(primaryHold(decisions)?.because.reason, reason);
  });
}
