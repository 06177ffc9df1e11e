import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventNote, EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { Change } from '#kubernetes/informer/informer.ts';
import { parseRollout, type RolloutView } from '../parse-resource.ts';
import { limitedEvents } from './limited-events.ts';

function rollout(key: string): RolloutView {
  const metadata = { namespace: 'demo', name: 'db', uid: 'u' };
  return parseRollout({ metadata, status: { rollout: { key } } });
}

interface Setup {
  readonly events: EventRecorder;
  /** Reasons of what was recorded. */
  readonly told: string[];
  readonly record: (reason: string, times?: number, uid?: string) => void;
  readonly become: (key: string) => void;
  readonly remove: () => void;
}

function setup(): Setup {
  let stored: RolloutView | undefined = rollout('one');
  const handlers: ((change: Change<RolloutView>) => void)[] = [];
  const told: string[] = [];
  const inner: EventRecorder = {
    record: ({ reason }) => void told.push(reason),
    flush: async () => void told.push('flushed'),
  };
  const lister = { size: 1, get: () => stored, list: () => [], by: () => [] };
  const events = limitedEvents(inner, { lister, onChange: (each) => void handlers.push(each) });
  const noteOf = (reason: string, uid: string): EventNote => {
    const about = { apiVersion: 'v1', kind: 'StatefulsetRollout', namespace: 'demo', name: 'db' };
    return { about: { ...about, uid }, type: 'Normal', reason, message: '' };
  };
  return {
    events,
    told,
    record: (reason, times = 1, uid = 'u') => {
      for (let count = 0; count < times; count += 1) events.record(noteOf(reason, uid));
    },
    become: (key) => {
      stored = rollout(key);
    },
    remove: () => {
      for (const handler of handlers) handler({ kind: 'deleted', object: rollout('one') });
    },
  };
}

test('limitedEvents() records each reason five times a rollout and resource [F-7]', () => {
  const { told, record } = setup();
  record('PodsEvicted', 7);
  record('PDBBlocked');
  record('PodsEvicted', 1, 'other');
  assert.deepEqual(told, [
    ...Array.from({ length: 5 }, () => 'PodsEvicted'),
    'PDBBlocked',
    'PodsEvicted',
  ]);
});

test('limitedEvents() records some once a rollout, and what has a pace of its own always', () => {
  const { told, record } = setup();
  record('NoBudget', 3);
  record('OrderedReadyLimitsParallelism', 3);
  record('PartialRolloutAging', 7);
  assert.equal(told.length, 9);
});

test('limitedEvents() begins again with another rollout, and after the resource is gone', () => {
  const { told, record, become, remove } = setup();
  record('NoBudget', 2);
  become('two');
  record('NoBudget', 2);
  remove();
  record('NoBudget', 2);
  assert.equal(told.length, 3);
});

test('limitedEvents() waits for what the recorder has not written yet', async () => {
  const { events, told } = setup();
  await events.flush();
  assert.deepEqual(told, ['flushed']);
});
