import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant } from '#base/units.ts';
import {
  failSafeStatus,
  formatZoneStatus,
  isSameZoneStatus,
  parseZoneStatus,
  type ZoneBudgetStatus,
} from './status.ts';

const none: ZoneBudgetStatus = {
  observedGeneration: 0,
  disruptedPods: new Map(),
  disruptionsAllowed: new Map(),
  currentHealthy: new Map(),
  currentUnhealthy: new Map(),
  desiredHealthy: new Map(),
  expectedPods: new Map(),
};

const some: ZoneBudgetStatus = {
  observedGeneration: 3,
  disruptedPods: new Map([['web-1', instant(Date.UTC(2026, 0, 31, 12, 0, 1, 999))]]),
  disruptionsAllowed: new Map([
    ['b', 1],
    ['a', 0],
  ]),
  currentHealthy: new Map([
    ['a', 3],
    ['b', 2],
  ]),
  currentUnhealthy: new Map([
    ['a', 0],
    ['b', 1],
  ]),
  desiredHealthy: new Map([
    ['a', 1],
    ['b', 1],
  ]),
  expectedPods: new Map([
    ['a', 3],
    ['b', 3],
  ]),
};

const written = {
  observedGeneration: 3,
  disruptedPods: { 'web-1': '2026-01-31T12:00:01Z' },
  disruptionsAllowed: { a: 0, b: 1 },
  currentHealthy: { a: 3, b: 2 },
  currentUnhealthy: { a: 0, b: 1 },
  desiredHealthy: { a: 1, b: 1 },
  expectedPods: { a: 3, b: 3 },
};

test('formatZoneStatus() writes the members of the peer, times in whole seconds, and numbers of 0', () => {
  assert.deepEqual(formatZoneStatus(some), written);
});

test('formatZoneStatus() leaves out what is empty, but for the generation', () => {
  assert.deepEqual(formatZoneStatus(none), { observedGeneration: 0 });
});

test('parseZoneStatus() reads what is written, and nothing of what cannot be read', () => {
  assert.deepEqual(formatZoneStatus(parseZoneStatus({ status: written })), written);
  const wrong = {
    observedGeneration: 'three',
    disruptedPods: { 'web-1': 'yesterday', 'web-2': 7 },
    disruptionsAllowed: { a: '1', b: 1.5, c: null },
    currentHealthy: [3],
    expectedPods: 'many',
  };
  assert.deepEqual(parseZoneStatus({ status: wrong }), none);
  assert.deepEqual(parseZoneStatus({}), none);
});

test('isSameZoneStatus() tells statuses apart by what is written, in whatever order (K-15)', () => {
  const order = new Map([...some.disruptionsAllowed].toReversed());
  assert.equal(isSameZoneStatus(some, { ...some, disruptionsAllowed: order }), true);
  assert.equal(isSameZoneStatus(some, parseZoneStatus({ status: written })), true);
  assert.equal(isSameZoneStatus(some, { ...some, disruptionsAllowed: new Map() }), false);
  assert.equal(isSameZoneStatus(some, { ...some, observedGeneration: 4 }), false);
});

test('failSafeStatus() lets no zone lose a pod, and keeps the generation of the numbers (W-09)', () => {
  assert.deepEqual(formatZoneStatus(failSafeStatus(some)), {
    ...written,
    disruptionsAllowed: { a: 0, b: 0 },
  });
  assert.deepEqual(failSafeStatus(none), none);
});
