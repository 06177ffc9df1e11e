import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InformerFreshness } from '#kubernetes/informer/informer-freshness.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { statefulSetView } from '#support/objects/views.ts';
import type { Scale } from '../decision/decision.ts';
import { ScaleWrites } from './scale-writes.ts';

const set = statefulSetView({ name: 'ingester-zone-b', resourceVersion: '10' });

/** The set as the cache shows it at `resourceVersion`, with `replicas`. */
function shown(resourceVersion: string, replicas: number): StatefulSetView {
  return statefulSetView({ name: 'ingester-zone-b', resourceVersion, spec: { replicas } });
}

/** Decided on revision 10 unless set otherwise. */
function scale(from: number, to: number, revision = '10'): Scale {
  const { namespace, name, uid } = set;
  const because = { reason: 'ScaledToLeader', message: 'a test wants it' } as const;
  return { kind: 'scale', set: { namespace, name, uid }, from, to, takes: 1, revision, because };
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
  assert.equal(scaled.unseen([set])?.revision, '12');
  freshness.delivered('11');
  assert.equal(scaled.unseen([set])?.revision, '12');
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

test('ScaleWrites tells which set awaits its own write, and since when, whatever the clock is set to', async () => {
  const { clock, freshness, writes: scaled } = writes();
  freshness.delivered('10');
  scaled.answered(scale(3, 2), '12');
  await clock.advance(5_000);
  clock.setWallClock(-3_600_000);
  assert.deepEqual(scaled.unseen([set]), {
    set: { namespace: 'test', name: 'ingester-zone-b', uid: 'ingester-zone-b-uid' },
    revision: '12',
    answeredAt: 1_000,
    since: 1_000,
  });
});

test('ScaleWrites closes it while a newer revision shows another count, as the test in the patch then fails (D-52)', () => {
  const { clock, writes: scaled } = writes();
  scaled.unanswered(scale(3, 2), clock.monotonic());
  assert.equal(scaled.open([shown('11', 2)]).size, 0);
});

for (const revision of ['9', '10']) {
  test(`ScaleWrites keeps it open when revision ${revision}, which is not newer than 10, shows another count (D-52)`, () => {
    const { clock, writes: scaled } = writes();
    scaled.unanswered(scale(3, 2), clock.monotonic());
    assert.equal(scaled.open([shown(revision, 4)]).get('ingester-zone-b')?.to, 2);
  });
}

test('ScaleWrites opens it again when the count returns within the 120 s, as it would then land (D-52)', async () => {
  const { clock, writes: scaled } = writes();
  scaled.unanswered(scale(3, 2), clock.monotonic());
  assert.equal(scaled.open([shown('11', 5)]).size, 0);
  await clock.advance(119_999);
  assert.equal(scaled.open([shown('12', 3)]).get('ingester-zone-b')?.to, 2);
  await clock.advance(1);
  assert.equal(scaled.open([shown('12', 3)]).size, 0);
});

test('ScaleWrites keeps it open after a later write of the same set was answered (D-52)', () => {
  const { clock, freshness, writes: scaled } = writes();
  scaled.unanswered(scale(3, 2), clock.monotonic());
  scaled.answered(scale(3, 5), '12');
  freshness.delivered('12');
  assert.equal(scaled.unseen([set]), undefined);
  assert.equal(scaled.open([shown('13', 3)]).get('ingester-zone-b')?.to, 2);
});

test('ScaleWrites keeps each of several requests open that were decided on different counts', async () => {
  const { clock, writes: scaled } = writes();
  scaled.unanswered(scale(5, 4, '10'), clock.monotonic());
  await clock.advance(1_000);
  scaled.unanswered(scale(3, 1, '12'), clock.monotonic());
  const open = (set: StatefulSetView): unknown => scaled.open([set]).get('ingester-zone-b');
  assert.deepEqual(open(shown('13', 5)), { to: 4, until: 121_000 });
  assert.deepEqual(open(shown('14', 3)), { to: 1, until: 122_000 });
  assert.equal(open(shown('15', 2)), undefined);
});

test('ScaleWrites forgets a set that is gone', () => {
  const { clock, freshness, writes: scaled } = writes();
  freshness.delivered('10');
  scaled.unanswered(scale(3, 2), clock.monotonic());
  scaled.answered(scale(3, 2), '12');
  scaled.forget(set.uid);
  assert.deepEqual([scaled.unseen([set]), scaled.open([set]).size], [undefined, 0]);
});

test('ScaleWrites keeps nothing open that only grows', () => {
  const { clock, writes: scaled } = writes();
  scaled.unanswered(scale(3, 5), clock.monotonic());
  assert.equal(scaled.open([set]).size, 0);
});

/** The set at revision `at`, of whose generation 5 its controller has observed `observed`. */
function observed(at: string, replicas: number, observedGeneration: number): StatefulSetView {
  const status = { observedGeneration };
  const { name } = set;
  return statefulSetView({ name, resourceVersion: at, generation: 5, spec: { replicas }, status });
}

test('ScaleWrites want pods to be seen after a count was lowered, until the set is gone', async () => {
  const { clock, writes: scaled } = writes();
  scaled.answered(scale(3, 4), '11');
  assert.equal(scaled.podsAfter(observed('11', 4, 5)), undefined);
  scaled.answered(scale(4, 3), '12');
  const loweredAt = clock.monotonic();
  await clock.advance(5);
  assert.equal(scaled.podsAfter(observed('12', 3, 5)), loweredAt);
  scaled.forget(set.uid);
  assert.equal(scaled.podsAfter(observed('12', 3, 5)), undefined);
});

test('ScaleWrites want pods of a set that was raised again to be seen after its controller has observed that', async () => {
  const { clock, writes: scaled } = writes();
  scaled.answered(scale(4, 3), '12');
  const loweredAt = clock.monotonic();
  await clock.advance(5);
  assert.equal(scaled.podsAfter(observed('10', 4, 5)), loweredAt, 'as it was before');
  assert.equal(scaled.podsAfter(observed('13', 4, 4)), loweredAt, 'raised, not observed');
  const raisedAt = clock.monotonic();
  assert.equal(scaled.podsAfter(observed('14', 4, 5)), raisedAt);
  await clock.advance(5);
  assert.equal(scaled.podsAfter(observed('14', 4, 5)), raisedAt);
});
