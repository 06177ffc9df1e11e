import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monotonic } from '#base/units.ts';
import type { PodView } from '#statefulset/view.ts';
import { podView } from '#testing/views.ts';
import type { PodRef } from './decision.ts';
import { OpenDisruptions, type PodSight } from './open-disruptions.ts';

const pod: PodRef = { namespace: 'test', name: 'a-0', uid: 'old', resourceVersion: '10' };
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

test('OpenDisruptions remembers for 5 minutes which pods were taken away', () => {
  const open = new OpenDisruptions();
  open.sent(pod, SENT);
  open.accepted(pod);
  const anew = { ...pod, uid: 'new' };
  assert.equal(open.wasTaken(anew, monotonic(SENT + 299_999)), true);
  assert.equal(open.wasTaken(anew, monotonic(SENT + 300_000)), false);
  assert.equal(open.wasTaken({ ...anew, name: 'a-1' }, SENT), false);
  assert.equal(open.wasTaken({ ...anew, namespace: 'other' }, SENT), false);
  open.void(pod);
  assert.equal(open.wasTaken(anew, SENT), false, 'the server refused it');
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
  'no longer when the pod is gone': {
    happens: unanswered,
    sight: sight({ seen: undefined }),
    isLeaving: false,
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

test('OpenDisruptions lists for touching only what has no answer', () => {
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
