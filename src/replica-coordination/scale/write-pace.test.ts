import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, type Instant, instant, minutes, monotonic } from '#base/units.ts';
import { T0 } from '#support/objects/views.ts';
import { type PacedWrite, type PaceMoment, WritePaces } from './write-pace.ts';

function write(to: number): PacedWrite {
  return { key: 'uid-b', subject: 'ingester-zone-b', from: 3, to };
}

/** Milliseconds after the start, at which the wall clock shows T0 unless set otherwise. */
function moment(at: number, now: Instant = instant(T0 + at)): PaceMoment {
  return { at: monotonic(at), now };
}

test('WritePaces repeats a refused write after 1, 2, 4 … at most 60 s', () => {
  const paces = new WritePaces();
  const waits = Array.from({ length: 8 }, () => paces.refused(write(5), 'no', moment(0)).until);
  assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
});

test('WritePaces begins again for another count, and after ten minutes', () => {
  const paces = new WritePaces();
  paces.refused(write(5), 'no', moment(0));
  assert.equal(paces.refused(write(4), 'no', moment(0)).until, 1_000);
  paces.refused(write(4), 'no', moment(0));
  const later = minutes(10) + 1;
  assert.equal(paces.refused(write(4), 'no', moment(later)).until - later, 1_000);
});

test('WritePaces lets a count be written twice more, then ever more rarely, at least every 5 min', () => {
  const paces = new WritePaces();
  const waits = Array.from({ length: 9 }, () => {
    paces.written(write(5), moment(0));
    return paces.of('uid-b', monotonic(0))?.until ?? 0;
  });
  assert.deepEqual(waits, [0, 0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
});

test('WritePaces says nothing once the time has come, and nothing of what was swept', () => {
  const paces = new WritePaces();
  const { until } = paces.refused(write(5), 'no', moment(0));
  assert.equal(paces.of('uid-b', until), undefined);
  paces.sweep(monotonic(0));
  paces.sweep(monotonic(601_000));
  assert.equal(paces.of('uid-b', monotonic(0)), undefined);
});

test('WritePaces holds no write longer because the wall clock was set back (D-55)', () => {
  const paces = new WritePaces();
  paces.refused(write(5), 'no', moment(0));
  assert.ok(paces.of('uid-b', monotonic(999)));
  assert.equal(paces.of('uid-b', monotonic(1_000)), undefined);
  const hourBefore = after(T0, minutes(-60));
  assert.equal(paces.refused(write(5), 'no', moment(1_000, hourBefore)).until, 3_000);
});

test('WritePaces names both counts, and until when it waits, in words that stay the same', () => {
  const paces = new WritePaces();
  const { because } = paces.refused(write(5), 'a webhook says no', moment(0));
  assert.deepEqual(because, {
    reason: 'ScaleRefused',
    message:
      'ingester-zone-b stays at 3 instead of 5 replicas, as the write was refused: a webhook says no; ' +
      'it is tried again at 2026-01-01T00:00:01Z',
  });
  for (let turn = 0; turn < 3; turn += 1) paces.written(write(5), moment(0));
  assert.deepEqual(paces.of('uid-b', monotonic(9_999))?.because, {
    reason: 'ReplicasContested',
    message:
      'ingester-zone-b was given 5 replicas 3 times, and another client changes them back to 3; ' +
      'they are written again at 2026-01-01T00:00:10Z',
  });
});
