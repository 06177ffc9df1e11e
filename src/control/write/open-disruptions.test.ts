import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monotonic } from '#base/units.ts';
import type { PodView } from '#statefulset/view.ts';
import { podView } from '#support/objects/views.ts';
import type { PodRef } from '../decision/decision.ts';
import { OpenDisruptions, type PodSight } from './open-disruptions.ts';

const pod: PodRef = {
  namespace: 'test',
  name: 'a-0',
  uid: 'old',
  resourceVersion: '10',
  revision: 'prev',
};
const SENT = monotonic(1_000);

function sight(
  overrides: Partial<PodSight> & { readonly seen?: PodView | undefined } = {},
): PodSight {
  return {
    now: SENT,
    find: () =>
      'seen' in overrides ? overrides.seen : podView({ uid: 'old', resourceVersion: '10' }),
    hasSeen: () => false,
    ...overrides,
  };
}

test('OpenDisruptions tells since when a pod is known that was made just like one taken in the last 5 minutes', () => {
  const open = new OpenDisruptions();
  open.sent(pod, SENT);
  open.accepted(pod);
  const anew = { ...pod, uid: 'new' };
  const later = monotonic(SENT + 299_999);
  assert.equal(open.madeAgainSince(anew, monotonic(SENT + 7)), SENT + 7);
  assert.equal(open.madeAgainSince(anew, later), SENT + 7);
  assert.equal(open.madeAgainSince({ ...anew, uid: 'newer' }, later), later);
  assert.equal(open.madeAgainSince(anew, monotonic(SENT + 300_000)), undefined);
  assert.equal(open.madeAgainSince({ ...anew, name: 'a-1' }, SENT), undefined);
  assert.equal(open.madeAgainSince({ ...anew, namespace: 'other' }, SENT), undefined);
  assert.equal(open.madeAgainSince({ ...anew, revision: 'last' }, SENT), undefined);
  assert.equal(open.madeAgainSince(pod, SENT), undefined, 'it is the very pod that was taken');
  open.void(pod);
  assert.equal(open.madeAgainSince(anew, SENT), undefined, 'the server refused it');
});

test('OpenDisruptions tells which deletions have been under way for 10 s, and when the next will have been', () => {
  const open = new OpenDisruptions();
  const later = { ...pod, name: 'a-1', uid: 'later' };
  open.sent(pod, SENT);
  open.sent(later, monotonic(SENT + 4_000));
  const told = (time: number): readonly [string, number | undefined] => {
    const now = monotonic(SENT + time);
    const next = open.nextSlow(now, () => true);
    const slow = open.slowPods(now, () => true).map(({ name }) => name);
    return [slow.join(), next === undefined ? undefined : next - SENT];
  };
  assert.deepEqual(told(9_999), ['', 10_000]);
  assert.deepEqual(told(10_000), ['a-0', 14_000]);
  assert.deepEqual(told(14_000), ['a-0,a-1', undefined]);
  open.answered(pod, '12');
  open.unanswered(later);
  assert.deepEqual(told(14_000), ['', undefined]);
  open.sent(pod, monotonic(SENT + 20_000));
  assert.deepEqual(
    open.slowPods(monotonic(SENT + 90_000), () => false),
    [],
  );
  assert.equal(
    open.nextSlow(monotonic(SENT + 20_000), () => false),
    undefined,
  );
});

interface Case {
  readonly happens: (open: OpenDisruptions) => void;
  readonly sight: PodSight;
  readonly isLeaving: boolean;
}

const unanswered = (open: OpenDisruptions): void => open.unanswered(pod);

const cases: Record<string, Case> = {
  'while the answer is awaited': { happens: () => undefined, sight: sight(), isLeaving: true },
  'while the answer is awaited, whatever the cache shows': {
    happens: () => undefined,
    sight: sight({ seen: undefined }),
    isLeaving: true,
  },
  'until the revision of the answer is seen': {
    happens: (open) => open.answered(pod, '11'),
    sight: sight(),
    isLeaving: true,
  },
  'no longer once the revision of the answer is seen': {
    happens: (open) => open.answered(pod, '11'),
    sight: sight({ hasSeen: (revision) => revision === '11' }),
    isLeaving: false,
  },
  'without an answer, while the cache shows the pod as it was': {
    happens: unanswered,
    sight: sight(),
    isLeaving: true,
  },
  'without an answer, 1 ms before 120 s have passed': {
    happens: unanswered,
    sight: sight({ now: monotonic(SENT + 119_999) }),
    isLeaving: true,
  },
  'no longer when 120 s have passed without an answer': {
    happens: unanswered,
    sight: sight({ now: monotonic(SENT + 120_000) }),
    isLeaving: false,
  },
  'no longer when the pod has moved past the precondition': {
    happens: unanswered,
    sight: sight({ seen: podView({ uid: 'old', resourceVersion: '12' }) }),
    isLeaving: false,
  },
  'no longer when another incarnation has its name': {
    happens: unanswered,
    sight: sight({ seen: podView({ uid: 'new', resourceVersion: '12' }) }),
    isLeaving: false,
  },
  'no longer when the cache has passed the revision and the pod is gone': {
    happens: unanswered,
    sight: sight({ seen: undefined, hasSeen: (revision) => revision === '10' }),
    isLeaving: false,
  },
  'when the cache, which began again, is older than the request and does not have the pod yet': {
    happens: unanswered,
    sight: sight({ seen: undefined }),
    isLeaving: true,
  },
  'when the cache, which began again, shows an older state of the pod': {
    happens: unanswered,
    sight: sight({ seen: podView({ uid: 'old', resourceVersion: '9' }) }),
    isLeaving: true,
  },
  'when the cache, which began again, shows the pod that had its name before': {
    happens: unanswered,
    sight: sight({ seen: podView({ uid: 'older', resourceVersion: '8' }) }),
    isLeaving: true,
  },
  'when accepted without a revision, and the cache shows an older state': {
    happens: (open) => open.accepted(pod),
    sight: sight({ seen: podView({ uid: 'old', resourceVersion: '9' }) }),
    isLeaving: true,
  },
  'when accepted without a revision, while the cache shows it as it was': {
    happens: (open) => open.accepted(pod),
    sight: sight(),
    isLeaving: true,
  },
  'no longer when the server refused the deletion': {
    happens: (open) => open.void(pod),
    sight: sight(),
    isLeaving: false,
  },
};

for (const [when, { happens, sight: seen, isLeaving }] of Object.entries(cases)) {
  test(`OpenDisruptions D-7 counts a pod as leaving ${when}`, () => {
    const open = new OpenDisruptions();
    open.sent(pod, SENT);
    happens(open);
    assert.deepEqual([...open.leaving(seen)], isLeaving ? ['old'] : []);
  });
}

test('OpenDisruptions lists as unanswered only what has no answer', () => {
  const open = new OpenDisruptions();
  const other = { ...pod, uid: 'other' };
  open.sent(pod, SENT);
  open.sent(other, SENT);
  open.unanswered(pod);
  open.answered(other, '11');
  assert.deepEqual(open.unansweredPods(), [pod]);
});

test('OpenDisruptions names the first moment at which time alone settles one', () => {
  const open = new OpenDisruptions();
  assert.equal(open.nextHorizon(), undefined);
  open.sent(pod, SENT);
  open.sent({ ...pod, uid: 'later' }, monotonic(SENT + 500));
  open.unanswered({ ...pod, uid: 'later' });
  assert.equal(open.nextHorizon(), SENT + 120_500);
  open.unanswered(pod);
  assert.equal(open.nextHorizon(), SENT + 120_000);
});

test('OpenDisruptions names that moment also for a pod that was found gone, whatever else is under way', () => {
  const open = new OpenDisruptions();
  open.sent(pod, SENT);
  open.accepted(pod);
  open.sent({ ...pod, uid: 'later' }, monotonic(SENT + 500));
  assert.equal(open.nextHorizon(), SENT + 120_000);
  assert.equal(
    open.nextHorizon(({ uid }) => uid === 'later'),
    undefined,
  );
});
