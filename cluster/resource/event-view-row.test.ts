import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storedEvent, storedEventPath, viewedEvent } from './event-view-row.ts';

const viewed = {
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name: 'a.1' },
  regarding: { kind: 'Pod', name: 'a' },
  note: 'it runs',
  reason: 'Started',
  reportingController: 'test',
  deprecatedCount: 2,
};
const stored = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'a.1' },
  involvedObject: { kind: 'Pod', name: 'a' },
  message: 'it runs',
  reason: 'Started',
  reportingComponent: 'test',
  count: 2,
};

test('storedEvent() and viewedEvent() are the two faces of one Event', () => {
  assert.deepEqual(storedEvent(viewed), { object: stored, unknown: [] });
  assert.deepEqual(viewedEvent(stored), viewed);
});

test('storedEvent() leaves out and names what only the core version has', () => {
  const { object, unknown } = storedEvent({ message: 'a', note: 'b' });
  assert.deepEqual([object, unknown], [{ message: 'b' }, ['message']]);
});

test('storedEvent() keeps a version that is not its own apart', () => {
  assert.equal(storedEvent({ apiVersion: 'v1' }).object['apiVersion'], 'events.k8s.io/v1');
});

test('storedEventPath() renames the first step only', () => {
  assert.equal(storedEventPath('regarding.name'), 'involvedObject.name');
  assert.equal(storedEventPath('metadata.note'), 'metadata.note');
});
