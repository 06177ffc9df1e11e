import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InformerFreshness } from '#kubernetes/informer-freshness.ts';
import { FakeClock } from '#testing/fake-clock.ts';
import { statefulSetView } from '#testing/views.ts';
import type { Scale } from './decision.ts';
import { ScaleWrites } from './scale-writes.ts';

const set = statefulSetView({ name: 'ingester-zone-b' });

function scale(from: number, to: number): Scale {
  const { namespace, name, uid } = set;
  const because = { reason: 'ScaledToLeader', message: 'a test wants it' } as const;
  return { kind: 'scale', set: { namespace, name, uid }, from, to, takes: 1, because };
}

function writes(): { clock: FakeClock; freshness: InformerFreshness; writes: ScaleWrites } {
  const clock = new FakeClock(1_000);
  const freshness = new InformerFreshness(clock, 'statefulsets');
  return { clock, freshness, writes: new ScaleWrites(clock, freshness) };
}

test('ScaleWrites awaits the revision of an answer until the cache has shown it', () => {
  const { freshness, writes: scaled } = writes();
  freshness.delivered('10');
  scaled.answered(scale(3, 2), '12');
  assert.equal(scaled.unseen([set]), '12');
  freshness.delivered('11');
  assert.equal(scaled.unseen([set]), '12');
  freshness.delivered('12');
  assert.equal(scaled.unseen([set]), undefined);
});

test('ScaleWrites keeps a scale-down without an answer open for 120 s', async () => {
  const { clock, writes: scaled } = writes();
  scaled.unanswered(scale(3, 2), clock.monotonic());
  assert.deepEqual([...scaled.open([set])], [['ingester-zone-b', { to: 2, until: 121_000 }]]);
  await clock.advance(119_999);
  assert.equal(scaled.open([set]).size, 1);
  await clock.advance(1);
  assert.equal(scaled.open([set]).size, 0);
});

test('ScaleWrites keeps the lowest count that any of several requests asked for', () => {
  const { clock, writes: scaled } = writes();
  scaled.unanswered(scale(3, 1), clock.monotonic());
  scaled.unanswered(scale(3, 2), clock.monotonic());
  assert.equal(scaled.open([set]).get('ingester-zone-b')?.to, 1);
});

test('ScaleWrites closes it once the count has changed, as the test in the patch then fails (D-19)', () => {
  const { clock, writes: scaled } = writes();
  scaled.unanswered(scale(3, 2), clock.monotonic());
  const changed = statefulSetView({ name: 'ingester-zone-b', spec: { replicas: 2 } });
  assert.equal(scaled.open([changed]).size, 0);
});

test('ScaleWrites keeps nothing open that only grows', () => {
  const { clock, writes: scaled } = writes();
  scaled.unanswered(scale(3, 5), clock.monotonic());
  assert.equal(scaled.open([set]).size, 0);
});
