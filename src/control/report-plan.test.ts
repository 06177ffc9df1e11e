import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecordingEvents, RecordingLogger } from '#testing/recording.ts';
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
  because: { reason: 'PodOutdated', message: 'it is' },
};

function bench(): {
  readonly reporter: PlanReporter;
  readonly log: RecordingLogger;
  readonly events: RecordingEvents;
} {
  const log = new RecordingLogger();
  const events = new RecordingEvents();
  return { reporter: new PlanReporter({ log, events }), log, events };
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
  'again after it had ended': [
    [[hold('ZoneNotReady')], [], [hold('ZoneNotReady')]],
    ['ZoneNotReady', 'ZoneNotReady'],
  ],
  'beside another one that began': [
    [[hold('ZoneOrder')], [hold('ZoneOrder'), hold('Paused')]],
    ['ZoneOrder', 'Paused'],
  ],
  'once for each text of a warning': [
    [[warn('MisplacedKey', 'one'), warn('MisplacedKey', 'two')], [warn('MisplacedKey', 'two')]],
    ['MisplacedKey', 'MisplacedKey'],
  ],
  'not for deletions, which are told when they are sent': [[[deletion]], []],
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

test('PlanReporter.report() writes an Event about the set, a warning where somebody has to look', () => {
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
