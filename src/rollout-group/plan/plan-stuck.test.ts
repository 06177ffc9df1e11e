import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, minutes, monotonic, seconds } from '#base/units.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import { podView, T0, unready } from '#support/objects/views.ts';
import {
  group,
  line,
  type PodState,
  type ZoneSpec,
  zone,
} from '#support/rollouts/rollout-zones.ts';
import { planRolloutGroup } from '../plan.ts';
import type { GroupSnapshot } from '../snapshot.ts';

const prev = { currentRevision: 'prev-hash' };

/** A zone of `pods` that is to leave `prev-hash`. */
function rolling(letter: string, pods: readonly PodState[], more: ZoneSpec = {}): SetSnapshot {
  const limit = more.annotations ?? { 'rollout-max-unavailable': '1' };
  return zone(letter, { status: prev, pods, ...more, annotations: limit });
}

const two = { annotations: { 'rollout-max-unavailable': '2' } };
const ordered = { spec: { isOrdered: true } };
const paused = {
  annotations: { 'rollout-max-unavailable': '1', 'grafana.com/rollout-paused': 'true' },
};

/** The stuck pods that go. */
function replaced(given: GroupSnapshot): readonly string[] {
  return planRolloutGroup(given, T0)
    .decisions.map(line)
    .flatMap((text) => /^delete (\S+) StuckPodReplaced$/.exec(text)?.[1] ?? []);
}

const cases: Record<
  string,
  { readonly given: readonly SetSnapshot[]; readonly want: readonly string[] }
> = {
  'no pod that is only not ready, in whatever zone': {
    given: [
      rolling('a', ['old-unready', 'old', 'old']),
      rolling('b', ['old-unready', 'old-unready', 'old-unready']),
    ],
    want: [],
  },
  'a stuck pod although other zones are not available': {
    given: [rolling('a', ['old-stuck', 'old', 'old']), rolling('b', ['old-unready', 'old', 'old'])],
    want: ['a-0'],
  },
  'a pod that is not ready for long': {
    given: [rolling('a', ['old', 'old-stuck-by-time', 'old']), rolling('b', ['old', 'old', 'old'])],
    want: ['a-1'],
  },
  'no stuck pod of the wanted revision': {
    given: [rolling('a', ['stuck', 'old', 'old'])],
    want: [],
  },
  // One zone at a time, in the order of the group.
  'the stuck pods of the first zone only': {
    given: [
      rolling('a', ['old', 'old', 'old-stuck']),
      rolling('b', ['old-stuck', 'old', 'old']),
      rolling('c', ['old-stuck', 'old', 'old']),
    ],
    want: ['a-2'],
  },
  'those of the next zone once none is left in the first': {
    given: [
      rolling('a', ['old', 'old', 'unready']),
      rolling('b', ['old-stuck', 'old', 'old']),
      rolling('c', ['old-stuck', 'old', 'old']),
    ],
    want: ['b-0'],
  },
  'none of the next zone while one of the first is going': {
    given: [
      rolling('a', ['old', 'old', 'old-stuck-terminating']),
      rolling('b', ['old-stuck', 'old', 'old']),
    ],
    want: [],
  },
  'none of the first zone while one of a later zone is going': {
    given: [
      rolling('a', ['old-stuck', 'old', 'old']),
      rolling('b', ['old-stuck-terminating', 'old', 'old']),
    ],
    want: [],
  },
  'none of the next zone while one of the first is going whose container does not say any more what it was':
    {
      given: [
        rolling('a', ['old', 'old', 'old-unready-terminating']),
        rolling('b', ['old-stuck', 'old', 'old']),
      ],
      want: [],
    },
  'none of the next zone while one of the first is going that is wanted by now': {
    given: [
      rolling('a', ['old', 'old', 'unready-terminating']),
      rolling('b', ['old-stuck', 'old', 'old']),
    ],
    want: [],
  },
  'those of the next zone although a pod of the first that was Ready is going': {
    given: [
      rolling('a', ['old', 'old', 'old-terminating']),
      rolling('b', ['old-stuck', 'old', 'old']),
    ],
    want: ['b-0'],
  },
  'those of the next zone although one of the first is going, where that is paused': {
    given: [
      rolling('a', ['old', 'old', 'old-unready-terminating'], paused),
      rolling('b', ['old-stuck', 'old', 'old']),
    ],
    want: ['b-0'],
  },
  'those of the next zone where a slot of the first has been empty for long': {
    given: [rolling('a', ['old', 'old', 'missing']), rolling('b', ['old-stuck', 'old', 'old'])],
    want: ['b-0'],
  },
  'those of the next zone where the first is paused': {
    given: [
      rolling('a', ['old-stuck', 'old', 'old'], paused),
      rolling('b', ['old-stuck', 'old', 'old']),
    ],
    want: ['b-0'],
  },
  'those of the next zone where the first is being deleted': {
    given: [
      rolling('a', ['old-stuck', 'old', 'old'], { isDeleting: true }),
      rolling('b', ['old-stuck', 'old', 'old']),
    ],
    want: ['b-0'],
  },
  'those of the next zone where the target of the first is not known': {
    given: [
      rolling('a', ['old-stuck', 'old', 'old'], { generation: 2 }),
      rolling('b', ['old-stuck', 'old', 'old']),
    ],
    want: ['b-0'],
  },
  'those of the next zone where the replacements of the first are stuck': {
    given: [rolling('a', ['stuck', 'old-stuck', 'old']), rolling('b', ['old-stuck', 'old', 'old'])],
    want: ['b-0'],
  },
  'those of the next zone where the replacements of the first are on a node that is lost': {
    given: [
      rolling('a', ['out-of-reach', 'old-stuck', 'old']),
      rolling('b', ['old-stuck', 'old', 'old']),
    ],
    want: ['b-0'],
  },
  'none of the next zone while the replacements of the first are starting': {
    given: [
      rolling('a', ['unready', 'old-stuck', 'old']),
      rolling('b', ['old-stuck', 'old', 'old']),
    ],
    want: [],
  },
  'none of the next zone while a slot of the first is empty': {
    given: [
      rolling('a', ['missing', 'old-stuck', 'old']),
      rolling('b', ['old-stuck', 'old', 'old']),
    ],
    want: [],
  },
  // By time alone: it may be at work all the same.
  'no pod that is stuck by time alone while another zone is being changed': {
    given: [
      rolling('a', ['old-stuck-by-time', 'old', 'old']),
      rolling('b', ['terminating', 'old', 'old']),
    ],
    want: [],
  },
  'a pod in a crash loop while another zone is being changed': {
    given: [
      rolling('a', ['old-stuck', 'old-stuck-by-time', 'old'], two),
      rolling('b', ['terminating', 'old', 'old']),
    ],
    want: ['a-0'],
  },
  'pods that are stuck by time alone one zone after the other, however high the limit': {
    given: ['a', 'b', 'c'].map((letter) =>
      rolling(letter, ['old-stuck-by-time', 'old-stuck-by-time', 'old-stuck-by-time'], {
        annotations: { 'rollout-max-unavailable': '100%' },
      }),
    ),
    want: ['a-0', 'a-1', 'a-2'],
  },
  // Under way: terminating, missing, or of the target revision and unavailable; never more than the limit.
  'as many as the limit allows, lowest ordinal first': {
    given: [rolling('a', ['old', 'old-stuck', 'old-stuck', 'old-stuck'], two)],
    want: ['a-1', 'a-2'],
  },
  'fewer by the slots that are terminating': {
    given: [rolling('a', ['old', 'old-terminating', 'old-stuck', 'old-stuck'], two)],
    want: ['a-2'],
  },
  'fewer by the slots that are missing': {
    given: [rolling('a', ['old', 'missing', 'old-stuck', 'old-stuck'], two)],
    want: ['a-2'],
  },
  'fewer by the pods of the target revision that are not ready': {
    given: [rolling('a', ['old', 'unready', 'old-stuck', 'old-stuck'], two)],
    want: ['a-2'],
  },
  'fewer by the pods of the target revision that are not ready for long enough': {
    given: [
      rolling('a', ['old', 'settling', 'old-stuck', 'old-stuck'], {
        ...two,
        spec: { minReady: seconds(30) },
      }),
    ],
    want: ['a-2'],
  },
  'not fewer by outdated pods that are only not ready': {
    given: [rolling('a', ['old', 'old-unready', 'old-stuck', 'old-stuck'], two)],
    want: ['a-2', 'a-3'],
  },
  'not fewer by slots that a scale-down takes away (D-17)': {
    given: [
      rolling('a', ['old', 'old-stuck', 'old'], {
        spec: { replicas: 2 },
        status: { ...prev, replicas: 3 },
      }),
    ],
    want: ['a-1'],
  },
  'none while the limit is under way': {
    given: [rolling('a', ['old', 'missing', 'unready', 'old-stuck'], two)],
    want: [],
  },
  // All at once.
  'all at once where no pod of the set is ready and all are in a crash loop': {
    given: [rolling('a', ['old-stuck', 'old-stuck', 'old-stuck'])],
    want: ['a-0', 'a-1', 'a-2'],
  },
  'all at once where those that were replaced are not ready either': {
    given: [rolling('a', ['unready', 'missing', 'old-stuck', 'old-stuck'])],
    want: ['a-2', 'a-3'],
  },
  'one after the other where one pod is ready': {
    given: [rolling('a', ['current', 'old-stuck', 'old-stuck'])],
    want: ['a-1'],
  },
  'one after the other where one is stuck by time alone': {
    given: [rolling('a', ['old-stuck', 'old-stuck', 'old-stuck-by-time'])],
    want: ['a-0'],
  },
  'one after the other where one is only not ready': {
    given: [rolling('a', ['old-stuck', 'old-stuck', 'old-unready'])],
    want: ['a-0'],
  },
  // OrderedReady.
  'the lowest of an ordered set although all above it are missing': {
    given: [rolling('a', ['old', 'old-stuck', 'missing', 'missing'], ordered)],
    want: ['a-1'],
  },
  'none of an ordered set while a slot below it is missing': {
    given: [rolling('a', ['old', 'missing', 'old-stuck', 'old-stuck'], ordered)],
    want: [],
  },
  'the lowest of an ordered set alone where those that are missing between them follow it': {
    given: [rolling('a', ['old', 'old-stuck', 'missing', 'old-stuck'], { ...ordered, ...two })],
    want: ['a-1'],
  },
  'none of an ordered set that is missing above a pod that may be back': {
    given: [rolling('a', ['old-unready', 'missing', 'old-stuck', 'old'], ordered)],
    want: [],
  },
  'those of the next zone where all of an ordered one waits for a stuck replacement': {
    given: [
      rolling('a', ['stuck', 'missing', 'old-stuck', 'old'], ordered),
      rolling('b', ['old', 'old-stuck', 'old']),
    ],
    want: ['b-1'],
  },
};

for (const [fact, { given, want }] of Object.entries(cases)) {
  test(`planRolloutGroup() replaces ${fact} (D-48)`, () => {
    assert.deepEqual(replaced(group(given)), want);
  });
}

/** What this process has seen of the last pod of zone a, and of its place; it began two hours ago. */
const memories: Record<
  string,
  {
    readonly last: PodState;
    readonly seen: Partial<GroupSnapshot['watched']>;
    readonly want: readonly string[];
    readonly left?: number;
  }
> = {
  'although a pod of the first is going that was seen to serve until then': {
    last: 'old-unready-terminating',
    seen: { served: new Set(['ingester-zone-a-2-uid']) },
    want: ['b-0'],
  },
  'not for 60 s after a stuck pod of the first went, while its place is empty': {
    last: 'missing',
    seen: { gone: new Map([['ingester-zone-a-2', monotonic(7_200_000 - 59_000)]]) },
    want: [],
    left: 1,
  },
  'again 60 s after a stuck pod of the first went, though its place is empty': {
    last: 'missing',
    seen: { gone: new Map([['ingester-zone-a-2', monotonic(7_200_000 - 60_000)]]) },
    want: ['b-0'],
  },
  'not for 60 s from its start while a place in the first is empty': {
    last: 'missing',
    seen: { begun: monotonic(7_200_000 - 20_000) },
    want: [],
    left: 40,
  },
};

// A stuck pod of the next zone is looked at again after 60 s anyhow.
for (const [fact, { last, seen, want, left = 60 }] of Object.entries(memories)) {
  test(`planRolloutGroup() replaces stuck pods of the next zone ${fact} (D-48)`, () => {
    const given = group([
      rolling('a', ['old', 'old', last]),
      rolling('b', ['old-stuck', 'old', 'old']),
    ]);
    const snapshot = { ...given, watched: { ...given.watched, ...seen } };
    assert.deepEqual(replaced(snapshot), want);
    const { requeue } = planRolloutGroup(snapshot, T0);
    const at = requeue.kind === 'at' ? requeue.at - T0 : undefined;
    assert.equal(at, left * 1_000);
  });
}

test('planRolloutGroup() leaves a stuck pod alone that names no revision, and says so (D-48)', () => {
  const [kept] = planRolloutGroup(
    group([rolling('a', ['unlabelled-stuck', 'current', 'current'])]),
    T0,
  ).decisions;
  assert.equal(kept?.because.reason, 'StuckPodKept');
  assert.equal(
    kept?.because.message,
    'ingester-zone-a-0 is stuck (CrashLoopBackOff) and is left alone: it runs a revision that it does not name, and in its place a pod on last-hash would be made',
  );
});

test('planRolloutGroup() keeps stuck pods of a lower zone from holding back what the limit leaves to pods that serve', () => {
  const given = group([rolling('a', ['old-stuck', 'old', 'old'], two)]);
  assert.deepEqual(planRolloutGroup(given, T0).decisions.map(line), [
    'delete a-0 StuckPodReplaced',
    'delete a-1 PodOutdated',
  ]);
});

test('planRolloutGroup() says why a stuck pod goes, and that it costs nothing', () => {
  const [byCause, byTime] = (['old-stuck', 'old-stuck-by-time'] as const).map(
    (state) => planRolloutGroup(group([rolling('a', [state, 'old', 'old'])]), T0).decisions[0],
  );
  assert.equal(byCause?.kind === 'delete-pod' ? byCause.costs : '', 'nothing');
  assert.equal(
    byCause?.because.message,
    'ingester-zone-a-0 cannot become ready by itself (CrashLoopBackOff) and runs prev-hash instead of last-hash; it is replaced without waiting for other zones',
  );
  assert.match(
    byTime?.because.message ?? '',
    /^ingester-zone-a-0 cannot become ready by itself \(not ready for 1h0m0s\) /,
  );
});

test('planRolloutGroup() names what a person must act on before what is on its way', () => {
  const given = group([rolling('a', ['terminating', 'missing', 'unready', 'stuck'], two)]);
  const [hold] = planRolloutGroup(given, T0).decisions;
  assert.equal(
    hold?.because.message,
    'ingester-zone-a has unavailable pods: ingester-zone-a-3 (CrashLoopBackOff), ingester-zone-a-2 (not ready), ingester-zone-a-1 (does not exist) and 1 more',
  );
});

test('planRolloutGroup() names start-up and lost nodes in words', () => {
  const replaying = podView({
    name: 'ingester-zone-a-0',
    readySince: undefined,
    unready: unready({ isStartingUp: true }),
  });
  const lost = podView({
    name: 'ingester-zone-a-1',
    readySince: undefined,
    unready: unready({ isOutOfReach: true }),
  });
  const given = group([
    zone('a', { pods: ['missing', 'missing', 'current'], extra: [replaying, lost] }),
  ]);
  assert.equal(
    planRolloutGroup(given, T0).decisions[0]?.because.message,
    'ingester-zone-a has unavailable pods: ingester-zone-a-0 (its start-up probe has not succeeded yet), ingester-zone-a-1 (its node may be out of reach)',
  );
});

test('planRolloutGroup() looks again when a pod may have become stuck by time', () => {
  const pod = podView({
    name: 'ingester-zone-a-0',
    revision: 'prev-hash',
    readySince: undefined,
    unready: unready({ since: after(T0, minutes(-10)) }),
  });
  const given = group([rolling('a', ['missing', 'current', 'current'], { extra: [pod] })]);
  const watched = {
    now: monotonic(7_200_000),
    since: new Map([[pod.uid, monotonic(7_200_000 - 240_000)]]),
    witnessed: new Set<string>(),
    served: new Set<string>(),
    gone: new Map(),
    begun: monotonic(0),
  };
  assert.deepEqual(planRolloutGroup({ ...given, watched }, T0).requeue, {
    kind: 'at',
    at: after(T0, minutes(26)),
  });
  const never = { ...given, watched, stuckAfter: undefined };
  assert.deepEqual(planRolloutGroup(never, T0).requeue, { kind: 'await-change' });
});
