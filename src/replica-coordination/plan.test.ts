import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invalid, valid } from '#base/parsed.ts';
import {
  after,
  type Instant,
  type Millis,
  millis,
  minutes,
  monotonic,
  seconds,
} from '#base/units.ts';
import type { Watched } from '#statefulset/view.ts';
import { podView, readySince, statefulSetView, T0 } from '#support/objects/views.ts';
import {
  coordination,
  deeds,
  delays,
  follows,
  heard,
  mirrors,
  REFERENCE,
  reference,
  TAKEN_AT,
  type ZoneSpec,
} from '#support/rollouts/coordination.ts';
import { planCoordination } from './plan.ts';
import type { CoordinationSnapshot, Pace, ReferenceState } from './snapshot.ts';

/** T0 is 2026-01-01T00:00:00Z. */
const hoursAgo = (hours: number): string =>
  new Date(T0 - hours * 3_600_000).toISOString().replace('.000Z', 'Z');

const hours = (count: number): Millis => minutes(count * 60);

const minimum = { 'min-time-between-zones-downscale': '12h' };

function known(state: ReferenceState): Partial<CoordinationSnapshot> {
  return { references: new Map([[REFERENCE, state]]) };
}

interface Case {
  readonly zones: Readonly<Record<string, ZoneSpec>>;
  readonly rest?: Partial<CoordinationSnapshot>;
  readonly does: readonly string[];
}

const prev = { status: { currentRevision: 'prev-hash' } };
const gate = { 'rollout-upscale-only-when-leader-ready': 'true' };

const following: Record<string, Case> = {
  '[scenario 41] waits for the minimum time': {
    zones: {
      a: { replicas: 2, annotations: { 'last-downscale': hoursAgo(1) } },
      b: { replicas: 3, annotations: follows('a'), labels: minimum, set: prev },
    },
    does: ['b: hold MinimumTimeNotElapsed'],
  },
  '[scenario 42] shrinks a follower when no zone was ever scaled down': {
    zones: {
      a: { replicas: 2 },
      b: { replicas: 3, annotations: follows('a'), labels: minimum, set: prev },
    },
    does: ['b: 3 → 2'],
  },
  '[scenario 44] grows a follower at once, although its leader is not ready': {
    zones: { a: { replicas: 4, ready: 2 }, b: { replicas: 3, annotations: follows('a') } },
    does: ['b: 3 → 4'],
  },
  '[scenario 45] holds a follower that waits for its leader': {
    zones: { a: { replicas: 4, ready: 3 }, b: { replicas: 3, annotations: follows('a', gate) } },
    does: ['b: hold LeaderNotReady'],
  },
  'holds a follower whose wait for its leader cannot be read [found R-12]': {
    zones: {
      a: { replicas: 4, ready: 3 },
      b: {
        replicas: 3,
        annotations: follows('a', { 'rollout-upscale-only-when-leader-ready': 'True' }),
      },
    },
    does: ['b: hold LeaderNotReady'],
  },
  '[scenario 45] lets it grow when the leader is ready': {
    zones: { a: { replicas: 4 }, b: { replicas: 3, annotations: follows('a', gate) } },
    does: ['b: 3 → 4'],
  },
  '[scenario 45] holds the next of a chain until the one before it is ready': {
    zones: {
      a: { replicas: 4 },
      b: { replicas: 4, ready: 2, annotations: follows('a', gate) },
      c: { replicas: 3, annotations: follows('b', gate) },
    },
    does: ['c: hold LeaderNotReady'],
  },
  '[scenario 45] lets the next of a chain grow when the one before it is ready': {
    zones: {
      a: { replicas: 4 },
      b: { replicas: 4, annotations: follows('a', gate) },
      c: { replicas: 3, annotations: follows('b', gate) },
    },
    does: ['c: 3 → 4'],
  },
  'neither shrinks nor grows a follower that something else names, too (D-63)': {
    zones: {
      a: { replicas: 4 },
      b: { replicas: 3, annotations: follows('a') },
      c: { replicas: 5, annotations: follows('a') },
    },
    rest: {
      conflicts: new Map([
        ['ingester-zone-b-uid', ['PhasedRollout x']],
        ['ingester-zone-c-uid', ['PhasedRollout y']],
      ]),
    },
    does: [],
  },
  'lets a set follow a leader that something else names, too (D-63)': {
    zones: { a: { replicas: 4 }, b: { replicas: 3, annotations: follows('a') } },
    rest: { conflicts: new Map([['ingester-zone-a-uid', ['PhasedRollout x']]]) },
    does: ['b: 3 → 4'],
  },
  '[scenario 46] shrinks a follower although its leader is not ready': {
    zones: {
      a: { replicas: 2, ready: 1, unready: [1] },
      b: { replicas: 3, annotations: follows('a', gate) },
    },
    does: ['b: 3 → 2'],
  },
  '[scenario 47] waits 12 h, of which 10 have passed': {
    zones: {
      a: { replicas: 2, annotations: { 'last-downscale': hoursAgo(14) } },
      b: { replicas: 3, annotations: follows('a'), labels: minimum },
      c: { replicas: 2, annotations: { 'last-downscale': hoursAgo(10) } },
    },
    does: ['b: hold MinimumTimeNotElapsed'],
  },
  '[scenario 47] goes after 14 of 12 h': {
    zones: {
      a: { replicas: 2, annotations: { 'last-downscale': hoursAgo(14) } },
      b: { replicas: 3, annotations: follows('a'), labels: minimum },
    },
    does: ['b: 3 → 2'],
  },
  '[scenario 47] waits when exactly the minimum time has passed': {
    zones: {
      a: { replicas: 2, annotations: { 'last-downscale': hoursAgo(12) } },
      b: { replicas: 3, annotations: follows('a'), labels: minimum },
    },
    does: ['b: hold MinimumTimeNotElapsed'],
  },
  '[scenario 47] does not wait for the own last down-scale of the follower': {
    zones: {
      a: { replicas: 2 },
      b: {
        replicas: 3,
        annotations: follows('a', { 'last-downscale': hoursAgo(1) }),
        labels: minimum,
      },
    },
    does: ['b: 3 → 2'],
  },
  '[scenario 48] holds a follower whose label is missing while a zone was scaled down': {
    zones: {
      a: { replicas: 2, annotations: { 'last-downscale': hoursAgo(100) } },
      b: { replicas: 3, annotations: follows('a') },
      c: { replicas: 3, annotations: follows('a'), labels: minimum },
    },
    does: ['b: hold MinimumTimeUnknown', 'c: 3 → 2'],
  },
  '[found R-18] reads the minimum time from the annotation, and from the label where that one is empty':
    {
      zones: {
        a: { replicas: 2, annotations: { 'last-downscale': hoursAgo(1) } },
        b: { replicas: 3, annotations: { ...follows('a'), ...minimum } },
        c: {
          replicas: 3,
          annotations: { ...follows('a'), 'min-time-between-zones-downscale': '' },
          labels: { 'min-time-between-zones-downscale': '30m' },
        },
      },
      does: ['b: hold MinimumTimeNotElapsed', 'c: 3 → 2'],
    },
  '[found R-18] reads the minimum time from the annotation alone where both are given': {
    zones: {
      a: { replicas: 2, annotations: { 'last-downscale': hoursAgo(1) } },
      b: {
        replicas: 3,
        annotations: { ...follows('a'), 'min-time-between-zones-downscale': '30m' },
        labels: minimum,
      },
      c: {
        replicas: 3,
        annotations: { ...follows('a'), 'min-time-between-zones-downscale': '1d' },
        labels: { 'min-time-between-zones-downscale': '30m' },
      },
    },
    does: ['b: 3 → 2', 'c: hold MinimumTimeUnknown'],
  },
  '[scenario 48] holds a follower whose label is no duration': {
    zones: {
      a: { replicas: 2, annotations: { 'last-downscale': hoursAgo(100) } },
      b: {
        replicas: 3,
        annotations: follows('a'),
        labels: { 'min-time-between-zones-downscale': 'invalid' },
      },
      c: {
        replicas: 3,
        annotations: follows('a'),
        labels: { 'min-time-between-zones-downscale': '1d' },
      },
    },
    does: ['b: hold MinimumTimeUnknown', 'c: hold MinimumTimeUnknown'],
  },
  '[scenario 48] holds the down-scales of every other follower for a time that cannot be read (D-21)':
    {
      zones: {
        a: { replicas: 2 },
        b: { replicas: 3, annotations: follows('a'), labels: minimum },
        c: { replicas: 3, annotations: follows('a'), labels: minimum },
        d: { replicas: 1, annotations: { 'last-downscale': 'invalid' } },
        e: { replicas: 1, annotations: follows('a') },
      },
      does: [
        'd: warn InvalidLastDownscale',
        'b: hold LastDownscaleUnknown',
        'c: hold LastDownscaleUnknown',
        'e: 1 → 2',
      ],
    },
  '[scenario 48] holds a follower without leader, and no other (KW-14)': {
    zones: {
      a: { replicas: 2 },
      b: { replicas: 3, annotations: follows('z') },
      c: { replicas: 3, annotations: follows('a') },
      d: { replicas: 4, annotations: mirrors() },
    },
    rest: known(reference(5, 4)),
    does: ['b: hold LeaderNotFound', 'c: 3 → 2', 'd: hold ScaleOrder'],
  },
  '[scenario 48] holds a follower with an empty leader': {
    zones: { a: { replicas: 2, annotations: { 'rollout-downscale-leader': '' } } },
    does: ['a: hold LeaderNotFound'],
  },
  '[scenario 49] forces a follower at once': {
    zones: {
      a: { replicas: 5, ready: 1, annotations: { 'last-downscale': hoursAgo(1) } },
      b: { replicas: 5, annotations: follows('a', { 'rollout-force-replicas': '0' }) },
      c: { replicas: 5, annotations: follows('a') },
    },
    does: ['b: 5 → 0'],
  },
  '[scenario 49] still needs the leader of a forced follower (SC-12)': {
    zones: { b: { replicas: 5, annotations: follows('a', { 'rollout-force-replicas': '0' }) } },
    does: ['b: hold LeaderNotFound'],
  },
  '[scenario 49] forces nothing where replicas come from nowhere (SC-5)': {
    zones: {
      a: { replicas: 5, annotations: { 'rollout-force-replicas': '1' } },
      b: { replicas: 5, annotations: { 'rollout-force-replicas': 'invalid' } },
    },
    does: [],
  },
  '[scenario 50] scales one set a pass': {
    zones: {
      a: { replicas: 5 },
      b: { replicas: 3, annotations: follows('a') },
      c: { replicas: 3, annotations: follows('a') },
    },
    does: ['b: 3 → 5', 'c: hold ScaleOrder'],
  },
  '[scenario 50] scales the other one in the next pass': {
    zones: {
      a: { replicas: 5 },
      b: { replicas: 5, ready: 3, current: 3, annotations: follows('a') },
      c: { replicas: 3, annotations: follows('a') },
    },
    does: ['c: 3 → 5'],
  },
  'only warns of a set that follows itself (SC-11) [found R-14]': {
    zones: { a: { replicas: 2, annotations: follows('a') } },
    does: ['a: warn FollowsItself'],
  },
  'warns of sets that follow one another in a ring, and not of one that follows them [found R-14]':
    {
      zones: {
        a: { replicas: 2, annotations: follows('c') },
        b: { replicas: 2, annotations: follows('a') },
        c: { replicas: 2, annotations: follows('d') },
        d: { replicas: 2, annotations: follows('c') },
      },
      does: ['c: warn FollowsItself', 'd: warn FollowsItself'],
    },
  'does nothing about a set that is being deleted': {
    zones: {
      a: { replicas: 2 },
      b: { replicas: 3, annotations: follows('a'), set: { isDeleting: true } },
    },
    does: [],
  },
  'holds a set that has a leader and a resource (D-20)': {
    zones: {
      a: { replicas: 2 },
      b: { replicas: 3, annotations: { ...follows('a'), ...mirrors() } },
    },
    rest: known(reference(5, 3)),
    does: ['b: hold ConflictingSources'],
  },
  'holds a set that is too large to be looked at (D-56)': {
    zones: {
      a: { replicas: 2 },
      b: {
        replicas: 3,
        annotations: follows('a'),
        set: { spec: { replicas: 2_147_483_647 }, status: {} },
      },
    },
    does: ['b: hold SetTooLarge'],
  },
};

for (const text of ['-1', 'invalid', '', '3000000000', ' 1', '1.0', '0x1']) {
  following[
    `[scenario 49] follows the leader, and says that it cannot force ${JSON.stringify(text)}`
  ] = {
    zones: {
      a: { replicas: 5 },
      b: { replicas: 4, annotations: follows('a', { 'rollout-force-replicas': text }) },
    },
    does: ['b: warn InvalidForceReplicas', 'b: 4 → 5'],
  };
}

/** Zones b and c follow a, and go back to two pods each: the third crashes again and again. */
const growing: Readonly<Record<string, ZoneSpec>> = {
  a: { replicas: 2 },
  b: { replicas: 3, annotations: follows('a'), crashing: [2] },
  c: { replicas: 3, annotations: follows('a'), crashing: [2] },
};

/** The third pods of `zones` have been watched to be as they are for `time`. */
function watchedFor(time: Millis, zones: readonly string[]): Watched {
  const since = monotonic(TAKEN_AT - time);
  return {
    now: TAKEN_AT,
    since: new Map(zones.map((zone) => [`ingester-zone-${zone}-2-uid`, since])),
    witnessed: new Set(),
    served: new Set<string>(),
    gone: new Map(),
    begun: monotonic(0),
  };
}

const safety: Record<string, Case> = {
  'does not shrink a zone while another one is rolled (EXCL-1)': {
    zones: {
      a: { replicas: 2, ready: 1, unready: [0], set: prev },
      b: { replicas: 3, annotations: follows('a') },
    },
    does: ['b: hold ZoneBeingChanged'],
  },
  'does not shrink a zone while a pod of another one goes (EXCL-1, D-17)': {
    zones: {
      a: { replicas: 2 },
      b: { replicas: 2, current: 3, annotations: follows('a') },
      c: { replicas: 3, annotations: follows('a') },
    },
    rest: { leaving: new Set(['ingester-zone-b-2-uid']) },
    does: ['c: hold ZoneBeingChanged'],
  },
  'does not shrink a zone while a deletion of ours in another is not yet seen (D-7)': {
    zones: { a: { replicas: 2 }, b: { replicas: 3, annotations: follows('a') } },
    rest: { leaving: new Set(['ingester-zone-a-0-uid']) },
    does: ['b: hold ZoneBeingChanged'],
  },
  'does not shrink a zone while a pod of another one starts, although no rollout shows (EXCL-1)': {
    zones: {
      a: { replicas: 2, ready: 1, starting: [0] },
      b: { replicas: 3, annotations: follows('a') },
    },
    does: ['b: hold ZoneBeingChanged'],
  },
  'does not shrink a zone while a pod of another one is not yet ready for minReadySeconds (EXCL-1)':
    {
      zones: {
        a: { replicas: 2, set: { spec: { minReady: minutes(61) } } },
        b: { replicas: 3, annotations: follows('a') },
      },
      does: ['b: hold ZoneBeingChanged'],
    },
  'does not shrink a zone beside another that lacks pods, although the pod that would go never became ready (EXCL-1)':
    {
      zones: {
        a: { replicas: 2, ready: 1, unready: [0], set: prev },
        b: { replicas: 3, annotations: follows('a'), starting: [2] },
      },
      does: ['b: hold ZoneBeingChanged'],
    },
  'shrinks a zone that itself lacks pods, those that go and others, beside zones that lack none': {
    zones: {
      a: { replicas: 2 },
      b: { replicas: 4, annotations: follows('a'), unready: [0], starting: [2, 3] },
    },
    does: ['b: 4 → 2'],
  },
  'does not shrink a zone beside another that lacks pods, although the pod that would go is not ready just now (EXCL-1)':
    {
      zones: {
        a: { replicas: 2, ready: 1, unready: [0], set: prev },
        b: { replicas: 3, annotations: follows('a'), unready: [2] },
      },
      does: ['b: hold ZoneBeingChanged'],
    },
  'shrinks one of two zones by stuck pods, although the stuck pod of the other is not gone yet': {
    zones: growing,
    rest: { watched: watchedFor(seconds(60), ['b', 'c']) },
    does: ['b: 3 → 2', 'c: hold ScaleOrder'],
  },
  'shrinks none of two zones by pods that never became ready before both are stuck (EXCL-1)': {
    zones: growing,
    rest: { watched: watchedFor(seconds(59), ['b', 'c']) },
    does: ['b: hold ZoneBeingChanged', 'c: hold ZoneBeingChanged'],
  },
  'does not shrink a zone by a pod that serves, although that of the other is stuck and is to go (EXCL-1)':
    {
      zones: { ...growing, b: { replicas: 3, annotations: follows('a') } },
      rest: { watched: watchedFor(seconds(60), ['b', 'c']) },
      does: ['b: hold ZoneBeingChanged', 'c: 3 → 2'],
    },
  'does not shrink a zone by a stuck pod beside another whose stuck pod stays (EXCL-1)': {
    zones: { ...growing, c: { replicas: 3, crashing: [2] } },
    rest: { watched: watchedFor(seconds(60), ['b', 'c']) },
    does: ['b: hold ZoneBeingChanged'],
  },
  'lets a zone grow, whatever the others do': {
    zones: {
      a: { replicas: 4, ready: 1, unready: [0], set: prev },
      b: { replicas: 3, annotations: follows('a') },
    },
    does: ['b: 3 → 4'],
  },
  'does not shrink a zone while a request to shrink another has no answer (D-7)': {
    zones: {
      a: { replicas: 2 },
      b: { replicas: 3, annotations: follows('a') },
      c: { replicas: 3, annotations: follows('a') },
    },
    rest: { unanswered: new Map([['ingester-zone-b', { to: 2, until: after(T0, seconds(100)) }]]) },
    does: ['b: 3 → 2', 'c: hold AwaitingAnswer'],
  },
  'does not repeat a refused write before its time (KW-22)': {
    zones: { a: { replicas: 4 }, b: { replicas: 3, annotations: follows('a') } },
    rest: { paces: new Map([['ingester-zone-b-uid', paceOf(4)]]) },
    does: ['b: hold ScaleRefused'],
  },
  'writes another count at once, although one was refused (KW-22)': {
    zones: { a: { replicas: 5 }, b: { replicas: 3, annotations: follows('a') } },
    rest: { paces: new Map([['ingester-zone-b-uid', paceOf(4)]]) },
    does: ['b: 3 → 5'],
  },
};

function paceOf(to: number): Pace {
  const because = { reason: 'ScaleRefused', message: 'no' } as const;
  return { to, until: monotonic(TAKEN_AT + seconds(8)), because };
}

/** Zone a is to shrink from 5 to 3; its pods are due in 60 s, and one of them is asked again in 30 s. */
const delayedA = {
  preparations: heard('a', {
    0: { since: undefined },
    1: { since: undefined },
    2: { since: undefined },
    3: { since: T0 - minutes(59), answeredAt: TAKEN_AT - seconds(270) },
    4: { since: T0 - minutes(59) },
  }),
};

const unansweredB = {
  unanswered: new Map([['ingester-zone-b', { to: 1, until: after(T0, seconds(100)) }]]),
};

const mirroring: Record<string, Case> = {
  '[scenario 51] grows a set and reports its count': {
    zones: { b: { replicas: 2, annotations: mirrors() } },
    rest: known(reference(5, 2)),
    does: ['b: 2 → 5', 'test := 5'],
  },
  '[scenario 51] shrinks a set and reports its count': {
    zones: { b: { replicas: 3, annotations: mirrors() } },
    rest: known(reference(2, 3)),
    does: ['b: 3 → 2', 'test := 2'],
  },
  '[scenario 53] reports the count when only that is stale': {
    zones: { b: { replicas: 3, annotations: mirrors() } },
    rest: known(reference(3, 5)),
    does: ['test := 3'],
  },
  '[scenario 53] does nothing when all is as wanted [QUIE-1]': {
    zones: { b: { replicas: 3, annotations: mirrors() } },
    rest: known(reference(3, 3)),
    does: [],
  },
  '[scenario 54] holds a set of which the kind is unknown, and no other (KW-14)': {
    zones: {
      b: { replicas: 3, annotations: mirrors() },
      c: {
        replicas: 3,
        annotations: mirrors({ 'rollout-mirror-replicas-from-resource-name': 'other' }),
      },
    },
    rest: {
      references: new Map([
        [REFERENCE, { kind: 'unresolved', message: 'no such kind' }],
        ['test/my.group/CustomResource/other', reference(4, 4)],
      ]),
    },
    does: ['b: hold ReferenceUnresolved', 'c: 3 → 4'],
  },
  '[scenario 54, 58] holds a set whose resource cannot be read, and no other (KW-14)': {
    zones: {
      a: {
        replicas: 3,
        annotations: mirrors({ 'rollout-mirror-replicas-from-resource-name': 'gone' }),
      },
      b: { replicas: 3, annotations: mirrors() },
    },
    rest: {
      references: new Map([
        ['test/my.group/CustomResource/gone', { kind: 'unreadable', message: '403' }],
        [REFERENCE, reference(4, 4)],
      ]),
    },
    does: ['a: hold ReferenceUnreadable', 'b: 3 → 4'],
  },
  '[scenario 55] reports the maximum of all sets of a resource, once (D-20)': {
    zones: {
      a: { replicas: 1 },
      b: { replicas: 5, annotations: mirrors() },
      c: { replicas: 5, annotations: mirrors() },
      d: { replicas: 2, annotations: mirrors() },
    },
    rest: known(reference(5, 2)),
    does: ['d: 2 → 5', 'test := 5'],
  },
  '[scenario 55] counts only sets that report': {
    zones: {
      b: {
        replicas: 7,
        annotations: mirrors({ 'rollout-mirror-replicas-from-resource-write-back': 'false' }),
      },
      c: {
        replicas: 7,
        annotations: mirrors({ 'rollout-mirror-replicas-from-resource-write-back': 'bad value' }),
      },
      d: { replicas: 2, annotations: mirrors() },
    },
    rest: known(reference(7, 2)),
    does: ['c: warn InvalidWriteBack', 'd: 2 → 7', 'test := 7'],
  },
  '[scenario 57] holds a set whose api-version is none': {
    zones: {
      b: {
        replicas: 3,
        annotations: mirrors({ 'rollout-mirror-replicas-from-resource-api-version': 'a/b/c' }),
      },
    },
    does: ['b: hold ReferenceUnresolved'],
  },
  '[scenario 58] scales b although the delay of a has not passed, and reports what a has': {
    zones: {
      a: { replicas: 5, annotations: mirrors(delays()) },
      b: { replicas: 5, annotations: mirrors() },
    },
    rest: { ...known(reference(3, 3)), ...delayedA },
    does: ['a: hold DownscaleDelayed', 'b: 5 → 3', 'test := 5'],
  },
  'tells no pod that it stays while a request to take it has no answer [SCAL-1]': {
    zones: { b: { replicas: 3, annotations: mirrors(delays()) } },
    rest: { ...known(reference(3, 3)), ...unansweredB },
    does: ['b: hold AwaitingAnswer'],
  },
  'tells pods that they stay which no request without an answer takes': {
    zones: { b: { replicas: 3, annotations: mirrors(delays()) } },
    rest: {
      ...known(reference(1, 3)),
      ...unansweredB,
      preparations: heard('b', { 1: { since: T0 - minutes(70) }, 2: { since: T0 - minutes(70) } }),
    },
    does: ['b: 3 → 1', 'test := 1', 'b: DELETE 0'],
  },
  'lets a set grow whose pods are not asked, whatever has no answer': {
    zones: { b: { replicas: 3, annotations: mirrors() } },
    rest: { ...known(reference(4, 4)), ...unansweredB },
    does: ['b: 3 → 4'],
  },
  'does not report to a resource whose status we may not write, and says so (KW-29)': {
    zones: { b: { replicas: 3, annotations: mirrors() } },
    rest: known({ ...knownReference(3, 5), isWriteBackForbidden: true }),
    does: ['b: warn WriteBackForbidden'],
  },
  'reports what sets of another group have, too (D-20)': {
    zones: { b: { replicas: 2, annotations: mirrors() } },
    rest: known({
      ...knownReference(3, 1),
      others: coordination({ x: { replicas: 9, annotations: mirrors() } }).sets.map(
        ({ set }) => set,
      ),
    }),
    does: ['b: 2 → 3', 'test := 9'],
  },
  'reports nothing to a StatefulSet that is mirrored: its status is its own': {
    zones: { b: { replicas: 2, annotations: mirrors() } },
    rest: known({
      ...knownReference(2, 1),
      ref: {
        type: {
          group: 'apps',
          version: 'v1',
          plural: 'statefulsets',
          kind: 'StatefulSet',
          isNamespaced: true,
        },
        namespace: 'test',
        name: 'test',
      },
    }),
    does: [],
  },
  'holds a mirrored set for the minimum time when it carries the label (KW-23)': {
    zones: {
      a: { replicas: 2, annotations: { 'last-downscale': hoursAgo(1) } },
      b: { replicas: 3, annotations: mirrors(), labels: minimum },
      c: { replicas: 3, annotations: mirrors() },
    },
    rest: known(reference(2, 3)),
    does: ['b: hold MinimumTimeNotElapsed', 'c: 3 → 2'],
  },
  'forces a mirrored set': {
    zones: { b: { replicas: 5, annotations: mirrors({ 'rollout-force-replicas': '+02' }) } },
    rest: known(reference(10, 5)),
    does: ['b: 5 → 2', 'test := 2'],
  },
  'ignores half of a reference (SC-30)': {
    zones: {
      b: { replicas: 5, annotations: { 'rollout-mirror-replicas-from-resource-name': 'test' } },
    },
    does: [],
  },
};

function knownReference(
  wanted: number,
  reported: number,
): Extract<ReferenceState, { kind: 'known' }> {
  const state = reference(wanted, reported);
  if (state.kind !== 'known') throw new Error('the builder makes known references');
  return state;
}

const writeBacks: Record<string, { readonly text: string; readonly does: readonly string[] }> = {
  '[scenario 52] reports nothing with write-back false': { text: 'false', does: ['b: 2 → 5'] },
  '[scenario 52] reports nothing with a write-back that cannot be read, and says so': {
    text: 'bad value',
    does: ['b: warn InvalidWriteBack', 'b: 2 → 5'],
  },
  '[scenario 52] reports nothing with an empty write-back, and says so': {
    text: '',
    does: ['b: warn InvalidWriteBack', 'b: 2 → 5'],
  },
  '[scenario 52] reports with write-back true': { text: 'true', does: ['b: 2 → 5', 'test := 5'] },
  '[scenario 52] reports with write-back T': { text: 'T', does: ['b: 2 → 5', 'test := 5'] },
  '[scenario 52] reports with write-back 1': { text: '1', does: ['b: 2 → 5', 'test := 5'] },
};

for (const [what, { text, does }] of Object.entries(writeBacks)) {
  const key = 'rollout-mirror-replicas-from-resource-write-back';
  const zones = { b: { replicas: 2, annotations: mirrors({ [key]: text }) } };
  mirroring[what] = { zones, rest: known(reference(5, 2)), does };
}

const tracked: Record<string, Case> = {
  'does not shrink a follower before the ConfigMap was read (D-23)': {
    zones: { a: { replicas: 2 }, b: { replicas: 3, annotations: follows('a') } },
    rest: { zoneTracker: { kind: 'unread' } },
    does: ['b: hold LastDownscaleUnknown'],
  },
  'does not shrink a follower while the ConfigMap cannot be read (D-23)': {
    zones: { a: { replicas: 2 }, b: { replicas: 3, annotations: follows('a') } },
    rest: { zoneTracker: { kind: 'unreadable', message: '403' } },
    does: ['b: hold LastDownscaleUnknown'],
  },
  'lets a follower grow without the ConfigMap': {
    zones: { a: { replicas: 4 }, b: { replicas: 3, annotations: follows('a') } },
    rest: { zoneTracker: { kind: 'unread' } },
    does: ['b: 3 → 4'],
  },
  'waits for the time that the ConfigMap says (D-23)': {
    zones: { a: { replicas: 2 }, b: { replicas: 3, annotations: follows('a'), labels: minimum } },
    rest: {
      zoneTracker: {
        kind: 'read',
        times: new Map([['ingester-zone-a', valid(after(T0, seconds(-60)))]]),
      },
    },
    does: ['b: hold MinimumTimeNotElapsed'],
  },
  'holds a follower for an entry that cannot be read': {
    zones: { a: { replicas: 2 }, b: { replicas: 3, annotations: follows('a'), labels: minimum } },
    rest: {
      zoneTracker: {
        kind: 'read',
        times: new Map([['ingester-zone-a', invalid('data', 'is none')]]),
      },
    },
    does: ['b: hold LastDownscaleUnknown'],
  },
};

for (const [what, { zones, rest, does }] of Object.entries({
  ...following,
  ...safety,
  ...mirroring,
  ...tracked,
})) {
  test(`planCoordination() ${what}`, () => {
    assert.deepEqual(deeds(planCoordination(coordination(zones, rest), T0).decisions), does);
  });
}

test('planCoordination() looks again one millisecond after the minimum time', () => {
  const snapshot = coordination({
    a: { replicas: 2, annotations: { 'last-downscale': hoursAgo(10) } },
    b: { replicas: 3, annotations: follows('a'), labels: minimum },
  });
  const { requeue } = planCoordination(snapshot, T0);
  assert.deepEqual(requeue, { kind: 'at', at: after(T0, millis(2 * 3_600_000 + 1)) });
});

test('planCoordination() looks again when a delay asks for it, also beside another set that scales', () => {
  const zones = {
    a: { replicas: 5, annotations: mirrors(delays()) },
    b: { replicas: 5, annotations: mirrors() },
  };
  const snapshot = coordination(zones, { ...known(reference(3, 3)), ...delayedA });
  const { requeue } = planCoordination(snapshot, T0);
  assert.deepEqual(requeue, { kind: 'at', at: after(T0, seconds(30)) });
});

/** How many pods go when a zone of 5, 6, 7 shrinks to one pod, by what its pods are. */
const taken: Record<string, readonly [rest: object, takes: number]> = {
  'the available pods that go with spec.ordinals.start (KW-30)': [{}, 2],
  'a pod that goes and broke after it was ready, as it may come back at any moment': [
    { unready: [7] },
    2,
  ],
  'a pod that goes and never became ready, as it may have become so since it was seen': [
    { starting: [7] },
    2,
  ],
};

for (const [what, [rest, takes]] of Object.entries(taken)) {
  test(`planCoordination() counts ${what}`, () => {
    const set = { spec: { ordinalsStart: 5 } };
    const zones = {
      a: { replicas: 1 },
      b: { replicas: 3, annotations: follows('a'), set, ...rest },
    };
    const [decision] = planCoordination(coordination(zones), T0).decisions;
    assert.equal(decision?.kind === 'scale' ? decision.takes : undefined, takes);
  });
}

test('planCoordination() looks again when the pods of another zone that are ready are available', () => {
  const zones = {
    a: { replicas: 2, set: { spec: { minReady: minutes(61) } } },
    b: { replicas: 3, annotations: follows('a') },
  };
  const { requeue } = planCoordination(coordination(zones), T0);
  assert.deepEqual(requeue, { kind: 'at', at: after(readySince, minutes(61)) });
});

test('planCoordination() looks again when pods are stuck that never became ready and are to go', () => {
  const snapshot = coordination(growing, { watched: watchedFor(seconds(20), ['b', 'c']) });
  const { requeue } = planCoordination(snapshot, T0);
  assert.deepEqual(requeue, { kind: 'at', at: after(T0, seconds(40)) });
});

test('planCoordination() holds for a pod of another zone that has not started', () => {
  const snapshot = coordination({
    a: { replicas: 2 },
    b: { replicas: 3, annotations: follows('a') },
  });
  const [a, ...rest] = snapshot.sets;
  assert.ok(a);
  const name = 'ingester-zone-a-0';
  const pending = podView({
    name,
    phase: 'Pending',
    readySince: undefined,
    areContainersReady: false,
  });
  const pods = a.pods.map((pod) => (pod.name === name ? pending : pod));
  const plan = planCoordination({ ...snapshot, sets: [{ ...a, pods }, ...rest] }, T0);
  assert.deepEqual(deeds(plan.decisions), ['b: hold ZoneBeingChanged']);
});

/** Zone a was scaled down at `at`, which this process has known for `known` milliseconds; b waits 12 h for it. */
function timed(at: Instant, known: number): CoordinationSnapshot {
  const annotations = { 'last-downscale': new Date(at).toISOString() };
  const zones = {
    a: { replicas: 2, annotations },
    b: { replicas: 3, annotations: follows('a'), labels: minimum },
  };
  const since = monotonic(TAKEN_AT - known);
  const elapsedThen = millis(Math.max(0, T0 - known - at));
  return coordination(zones, {
    seenDownscales: new Map([['ingester-zone-a', [{ at, since, elapsedThen }]]]),
  });
}

const watched: Record<string, readonly [at: Instant, known: number, does: string]> = {
  'counts a time to come as now': [after(T0, hours(100)), 0, 'b: hold MinimumTimeNotElapsed'],
  'waits no longer for a time to come than this process has watched pass': [
    after(T0, hours(100)),
    hours(12) + 1,
    'b: 3 → 2',
  ],
  'waits while this process has watched exactly the minimum time pass': [
    after(T0, hours(100)),
    hours(12),
    'b: hold MinimumTimeNotElapsed',
  ],
  'goes by the stored time where that has passed, although it was seen just now': [
    after(T0, millis(hours(-12) - 1)),
    0,
    'b: 3 → 2',
  ],
};

for (const [fact, [at, known, does]] of Object.entries(watched)) {
  test(`planCoordination() ${fact} (D-55)`, () => {
    assert.deepEqual(deeds(planCoordination(timed(at, known), T0).decisions), [does]);
  });
}

test('planCoordination() looks again when this process has watched the minimum time pass (D-55)', () => {
  const snapshot = timed(after(T0, hours(100)), hours(5));
  const at = after(T0, millis(hours(7) + 1));
  assert.deepEqual(planCoordination(snapshot, T0).requeue, { kind: 'at', at });
});

test('planCoordination() waits for the zone whose minimum time ends last (D-55)', () => {
  const snapshot = timed(after(T0, hours(100)), hours(11));
  const [a, b] = snapshot.sets;
  assert.ok(a !== undefined && b !== undefined);
  const name = 'ingester-zone-c';
  const annotations = { 'grafana.com/last-downscale': hoursAgo(2) };
  const c = { ...a, set: statefulSetView({ name, annotations, spec: { replicas: 0 } }), pods: [] };
  const [decision] = planCoordination({ ...snapshot, sets: [a, b, c] }, T0).decisions;
  assert.equal(
    decision?.because.message,
    'ingester-zone-b does not shrink before 2026-01-01T10:00:00Z, as ingester-zone-c was scaled down ' +
      'at 2025-12-31T22:00:00Z and 12h0m0s have to pass between two zones',
  );
});

test('planCoordination() says the same of a wait however much of it has passed (D-54)', () => {
  const messages = [0, 1, 59_999].map((passed) => {
    const now = after(T0, millis(passed));
    const takenAt = monotonic(TAKEN_AT + passed);
    const rest = { ...known(reference(3, 3)), ...delayedA, takenAt };
    const zones = {
      a: { replicas: 5, annotations: mirrors(delays()) },
      b: { replicas: 2, annotations: { 'last-downscale': hoursAgo(1) } },
      c: { replicas: 3, annotations: follows('b'), labels: minimum },
    };
    const { decisions } = planCoordination(coordination(zones, rest), now);
    return decisions.flatMap((each) => (each.kind === 'hold' ? [each.because.message] : []));
  });
  const [first] = messages;
  assert.deepEqual(first, [
    'Pod "ingester-zone-a-4" may go at 2026-01-01T00:01:00Z, 1h0m0s after it reported being prepared',
    'ingester-zone-c does not shrink before 2026-01-01T11:00:00Z, as ingester-zone-b was scaled down ' +
      'at 2025-12-31T23:00:00Z and 12h0m0s have to pass between two zones',
  ]);
  assert.deepEqual(messages, [first, first, first]);
});

const noted = { 'rollout-operator/prepared-at': 'http://pod/prepare' };
const bothNoted = { 'rollout-operator/prepared-at': 'http://pod/prepare http://pod/other' };
const pausedNote = {
  to: 'http://pod/prepare',
  until: monotonic(TAKEN_AT + seconds(8)),
  because: { reason: 'PodNotPrepared', message: 'no' },
} as const;

const moved: Record<string, Case> = {
  'does not shrink to what a resource asked for before it changed': {
    zones: { b: { replicas: 3, annotations: mirrors() } },
    rest: known({ ...knownReference(2, 3), hasChanged: true }),
    does: ['b: hold ReferenceUnreadable'],
  },
  'grows to what a resource asked for before it changed': {
    zones: { b: { replicas: 3, annotations: mirrors() } },
    rest: known({ ...knownReference(4, 4), hasChanged: true }),
    does: ['b: 3 → 4'],
  },
  'reports no count before its time that another client changes back': {
    zones: { b: { replicas: 3, annotations: mirrors() } },
    rest: known({ ...knownReference(3, 7), pace: paceOf(3) }),
    does: ['b: hold ScaleRefused'],
  },
  'reports another count at once, although one is contested': {
    zones: { b: { replicas: 3, annotations: mirrors() } },
    rest: known({ ...knownReference(3, 7), pace: paceOf(5) }),
    does: ['test := 3'],
  },
  'counts nothing that pods said at another URL': {
    zones: { b: { replicas: 3, annotations: mirrors({ ...delays(), ...noted }) } },
    rest: {
      ...known(reference(2, 3)),
      preparations: new Map(
        [...heard('b', { 2: { since: T0 - minutes(70) } })].map(([uid, known]) => [
          uid,
          known.map(({ slots }) => ({ url: 'http://pod/other', slots })),
        ]),
      ),
    },
    does: ['b: hold AwaitingPods', 'b: DELETE 0', 'b: DELETE 1', 'b: POST 2'],
  },
  '[found R-4] notes where pods are asked before it asks them': {
    zones: { b: { replicas: 3, annotations: mirrors(delays()) } },
    rest: known(reference(2, 3)),
    does: ['b: hold AwaitingPods', 'b: note http://pod/prepare', 'b: DELETE 0', 'b: DELETE 1'],
  },
  '[found R-4] asks no pod while a note that was written is not shown': {
    zones: { b: { replicas: 3, annotations: mirrors({ ...delays(), ...noted }) } },
    rest: {
      ...known(reference(2, 3)),
      notes: new Map([
        ['ingester-zone-b-uid', { isOpen: true, isAwaited: true, pause: undefined }],
      ]),
    },
    does: ['b: hold AwaitingPods', 'b: DELETE 0', 'b: DELETE 1'],
  },
  '[found R-4] does not repeat a note before its time, and says why': {
    zones: { b: { replicas: 3, annotations: mirrors(delays()) } },
    rest: {
      ...known(reference(2, 3)),
      notes: new Map([
        ['ingester-zone-b-uid', { isOpen: false, isAwaited: false, pause: pausedNote }],
      ]),
    },
    does: ['b: hold AwaitingPods', 'b: hold PodNotPrepared', 'b: DELETE 0', 'b: DELETE 1'],
  },
  '[found R-4] forgets where pods were asked once each of them stays': {
    zones: { b: { replicas: 2, annotations: noted } },
    rest: { preparations: heard('b', { 0: { since: undefined }, 1: { since: undefined } }) },
    does: ['b: note '],
  },
  '[found R-4] takes back at each URL where pods may be prepared': {
    zones: { b: { replicas: 1, annotations: bothNoted } },
    rest: {},
    does: ['b: DELETE 0', 'b: DELETE 0'],
  },
  '[found R-4] takes nothing back while the resource that asked cannot be read': {
    zones: { b: { replicas: 3, annotations: mirrors({ ...delays(), ...noted }) } },
    rest: { references: new Map([[REFERENCE, { kind: 'unreadable', message: 'no' }]]) },
    does: ['b: hold ReferenceUnreadable'],
  },
  '[found R-4] takes all back once the resource that asked does not exist': {
    zones: { b: { replicas: 2, annotations: mirrors({ ...delays(), ...noted }) } },
    rest: {
      references: new Map([[REFERENCE, { kind: 'unreadable', message: 'no', isAbsent: true }]]),
    },
    does: ['b: hold ReferenceUnreadable', 'b: DELETE 0', 'b: DELETE 1'],
  },
  '[found R-4] does not take back what a request without an answer may still take': {
    zones: { b: { replicas: 2, annotations: noted } },
    rest: unansweredB,
    does: ['b: DELETE 0'],
  },
};

for (const [what, { zones, rest, does }] of Object.entries(moved)) {
  test(`planCoordination() ${what}`, () => {
    const { decisions } = planCoordination(coordination(zones, rest), T0);
    assert.deepEqual(deeds(decisions).toSorted(), does.toSorted());
  });
}

test('planCoordination() carries what a call of a pod needs, and why it is made', () => {
  const zones = { b: { replicas: 3, annotations: mirrors({ ...delays(), ...noted }) } };
  const snapshot = coordination(zones, known(reference(2, 3)));
  const calls = planCoordination(snapshot, T0).decisions.filter(({ kind }) => kind === 'call-pod');
  assert.deepEqual(calls.at(-1), {
    kind: 'call-pod',
    set: { namespace: 'test', name: 'ingester-zone-b', uid: 'ingester-zone-b-uid' },
    ordinal: 2,
    podUid: 'ingester-zone-b-2-uid',
    isPodReady: true,
    method: 'POST',
    url: 'http://pod/prepare',
    because: {
      reason: 'PodPreparing',
      message: 'Pod "ingester-zone-b-2" is asked how long it has been prepared to go',
    },
  });
  assert.equal(calls[0]?.because.reason, 'PodReleased');
});

test('planCoordination() looks again when a resource is to be read again', () => {
  const zones = { b: { replicas: 3, annotations: mirrors() } };
  const lookAgainAt = monotonic(TAKEN_AT + seconds(20));
  const snapshot = coordination(zones, known({ ...knownReference(3, 3), lookAgainAt }));
  const { requeue } = planCoordination(snapshot, T0);
  assert.deepEqual(requeue, { kind: 'at', at: after(T0, seconds(20)) });
});
