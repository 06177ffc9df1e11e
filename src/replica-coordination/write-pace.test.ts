import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, millis, minutes, seconds } from '#base/units.ts';
import type { Scale } from '#control/decision.ts';
import { statefulSetView, T0 } from '#testing/views.ts';
import { WritePaces } from './write-pace.ts';

const set = statefulSetView({ name: 'ingester-zone-b' });

function scaleTo(to: number): Scale {
  const { namespace, name, uid } = set;
  const because = { reason: 'ScaledToLeader', message: 'a test wants it' } as const;
  return { kind: 'scale', set: { namespace, name, uid }, from: 3, to, takes: 0, because };
}

test('WritePaces repeats a refused write after 1, 2, 4 … at most 60 s', () => {
  const paces = new WritePaces();
  const waits = Array.from({ length: 8 }, () => paces.refused(scaleTo(5), 'no', T0).until - T0);
  assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
});

test('WritePaces begins anew for another count, and after ten minutes', () => {
  const paces = new WritePaces();
  paces.refused(scaleTo(5), 'no', T0);
  assert.equal(paces.refused(scaleTo(4), 'no', T0).until - T0, 1_000);
  paces.refused(scaleTo(4), 'no', T0);
  const later = after(T0, millis(minutes(10) + 1));
  assert.equal(paces.refused(scaleTo(4), 'no', later).until - later, 1_000);
});

test('WritePaces lets a count be written twice more, then ever more rarely', () => {
  const paces = new WritePaces();
  const waits = Array.from({ length: 5 }, () => {
    paces.written(scaleTo(5), T0);
    const pace = paces.of([set], T0).get(set.uid);
    return pace === undefined ? 0 : pace.until - T0;
  });
  assert.deepEqual(waits, [0, 0, 10_000, 20_000, 40_000]);
});

test('WritePaces says nothing once the time has come, and nothing of what was swept', () => {
  const paces = new WritePaces();
  const { until } = paces.refused(scaleTo(5), 'no', T0);
  assert.equal(paces.of([set], until).size, 0);
  paces.sweep(after(T0, seconds(601)));
  assert.equal(paces.of([set], T0).size, 0);
});
