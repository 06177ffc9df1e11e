import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, monotonic, seconds } from '#base/units.ts';
import {
  podView,
  readySince,
  type StatefulSetOverrides,
  T0,
  unready,
} from '#support/objects/views.ts';
import { group, line, type PodState, zone } from '#support/rollouts/rollout-zones.ts';
import { planRolloutGroup } from './plan.ts';
import type { GroupSnapshot } from './snapshot.ts';

const prev: StatefulSetOverrides['status'] = { currentRevision: 'prev-hash' };
const allOld = ['old', 'old', 'old'] as const;

function lines(snapshot: GroupSnapshot, now = T0): readonly string[] {
  return planRolloutGroup(snapshot, now).decisions.map(line);
}

const oneAtATime = { 'rollout-max-unavailable': '1' };
const paused = { 'rollout-max-unavailable': '2', 'grafana.com/rollout-paused': 'true' };

const cases: Record<string, { readonly given: GroupSnapshot; readonly want: readonly string[] }> = {
  '[scenario 3] holds when outdated pods of two zones are not ready: they may be back in a second (D-48)':
    {
      given: group([
        zone('a', { status: prev, pods: ['old', 'old', 'old-unready'] }),
        zone('b', { status: prev, pods: ['old', 'old-unready', 'old-unready'] }),
        zone('c'),
      ]),
      want: ['hold a MultipleZonesUnavailable'],
    },
  '[scenario 3] replaces the stuck pods of the first of two zones and holds the rest (D-48)': {
    given: group([
      zone('a', { status: prev, pods: ['old', 'old', 'old-stuck'] }),
      zone('b', { status: prev, pods: ['old', 'old-stuck', 'old-stuck'] }),
      zone('c'),
    ]),
    want: ['delete a-2 StuckPodReplaced', 'hold a MultipleZonesUnavailable'],
  },
  'holds when two zones have broken pods of the wanted revision': {
    given: group([
      zone('a', { pods: ['current', 'current', 'unready'] }),
      zone('b', { status: prev, pods: ['old', 'old', 'unready'] }),
    ]),
    want: ['hold a MultipleZonesUnavailable'],
  },
  '[scenario 4] holds when a pod terminates in each of two zones': {
    given: group([
      zone('a', { status: prev, pods: ['old', 'old', 'old-terminating'] }),
      zone('b', { status: prev, pods: ['old', 'old', 'old-terminating'] }),
    ]),
    want: ['hold a MultipleZonesUnavailable'],
  },
  '[scenario 5] holds when one zone has an unready pod and another a terminating one': {
    given: group([
      zone('a', { status: prev, pods: ['old', 'old', 'unready'] }),
      zone('b', { status: prev, pods: ['old', 'old', 'old-terminating'] }),
    ]),
    want: ['hold a MultipleZonesUnavailable'],
  },
  '[scenario 6] decides nothing when everything is current': {
    given: group([zone('a'), zone('b'), zone('c')]),
    want: [],
  },
  '[scenario 7] deletes the lowest ordinals up to the limit, and no status is written': {
    given: group([zone('a'), zone('b', { status: prev, pods: allOld }), zone('c')]),
    want: ['delete b-0 PodOutdated', 'delete b-1 PodOutdated'],
  },
  '[scenario 13] uses 1 for a limit that cannot be read, and warns': {
    given: group([
      zone('a', {
        status: prev,
        pods: allOld,
        annotations: { 'rollout-max-unavailable': 'xxx' },
      }),
    ]),
    want: ['warn a InvalidMaxUnavailable', 'delete a-0 PodOutdated'],
  },
  '[scenario 15] takes the unavailable zone first, with what its limit leaves': {
    given: group([
      zone('a', { status: prev, pods: allOld }),
      zone('b', { status: prev, pods: ['old', 'old', 'unready'] }),
    ]),
    want: ['delete b-0 PodOutdated', 'hold a ZoneOrder'],
  },
  '[scenario 16] holds when the limit is spent': {
    given: group([
      zone('a', { status: prev, pods: allOld }),
      zone('b', { status: prev, pods: ['old', 'unready', 'unready'] }),
    ]),
    want: ['hold b MaxUnavailableReached', 'hold a ZoneOrder'],
  },
  '[scenario 16] holds when the limit is spent by outdated pods that are not ready (D-48)': {
    given: group([
      zone('a', { status: prev, pods: allOld }),
      zone('b', { status: prev, pods: ['old', 'old-unready', 'old-unready'] }),
    ]),
    want: ['hold b MaxUnavailableReached', 'hold a ZoneOrder'],
  },
  '[scenario 16] replaces stuck outdated pods even when the limit is spent': {
    given: group([
      zone('a', { status: prev, pods: allOld }),
      zone('b', { status: prev, pods: ['old', 'old-stuck', 'old-stuck'] }),
    ]),
    want: [
      'delete b-1 StuckPodReplaced',
      'delete b-2 StuckPodReplaced',
      'hold b MaxUnavailableReached',
      'hold a ZoneOrder',
    ],
  },
  '[scenario 17] counts a terminating pod against the limit': {
    given: group([zone('a', { status: prev, pods: ['old-terminating', 'old', 'old'] })]),
    want: ['delete a-1 PodOutdated'],
  },
  '[scenario 18] counts a terminating pod once, whatever the status says (KW-4)': {
    given: group([
      zone('a', {
        status: { ...prev, replicas: 3, readyReplicas: 2 },
        pods: ['old-terminating', 'old', 'old'],
      }),
    ]),
    want: ['delete a-1 PodOutdated'],
  },
  '[scenario 19] promotes the update revision once all pods run it and are available': {
    given: group([zone('a', { status: prev })]),
    want: ['promote a last-hash'],
  },
  '[scenario 20] promotes nothing while pods are not ready': {
    given: group([zone('a', { status: prev, pods: ['current', 'unready', 'unready'] })]),
    want: ['hold a ZoneNotReady'],
  },
  '[scenario 21] promotes nothing while a pod is missing': {
    given: group([zone('a', { status: prev, pods: ['current', 'current', 'missing'] })]),
    want: ['hold a ZoneNotReady'],
  },
  '[scenario 22] leaves the next zone alone while an updated pod is not ready': {
    given: group([
      zone('a', { status: prev, pods: ['current', 'current', 'unready'] }),
      zone('b', { status: prev, pods: allOld }),
    ]),
    want: ['hold a ZoneNotReady', 'hold b ZoneOrder'],
  },
  '[scenario 23] leaves the next zone alone while a pod terminates unseen by the status': {
    given: group([
      zone('a', { status: prev, pods: ['current', 'current', 'terminating'] }),
      zone('b', { status: prev, pods: allOld }),
    ]),
    want: ['hold a ZoneNotReady', 'hold b ZoneOrder'],
  },
  '[scenario 24] EXCL-2 leaves the next zone alone while all pods of a zone are missing': {
    given: group([
      zone('a', { pods: ['missing', 'missing', 'missing'] }),
      zone('b', { status: prev, pods: allOld }),
    ]),
    want: ['hold a ZoneNotReady', 'hold b ZoneOrder'],
  },
  '[scenario 25] promotes one zone and starts the next in one pass': {
    given: group([zone('a', { status: prev }), zone('b', { status: prev, pods: allOld })]),
    want: ['promote a last-hash', 'delete b-0 PodOutdated', 'delete b-1 PodOutdated'],
  },
  '[scenario 26] rolls back pods of an abandoned revision and promotes nothing': {
    given: group([zone('a', { pods: ['current', 'old', 'current'] })]),
    want: ['delete a-1 PodOutdated'],
  },
  '[scenario 27] takes an owned pod without a revision label for outdated': {
    given: group([zone('a', { pods: ['unlabelled', 'current', 'current'] })]),
    want: ['delete a-0 PodOutdated'],
  },
  '[scenario 28] fails on an empty current revision and leaves later sets alone': {
    given: group([
      zone('a', { status: { currentRevision: '' }, pods: allOld }),
      zone('b', { status: prev, pods: allOld }),
    ]),
    want: ['hold a RevisionMissing'],
  },
  '[scenario 28] fails on an empty update revision': {
    given: group([zone('a', { status: { updateRevision: '' } })]),
    want: ['hold a RevisionMissing'],
  },
  'waits for the status of a set that its controller has not looked at yet': {
    given: group([
      zone('a', {
        status: { observedGeneration: 0, currentRevision: '', updateRevision: '', replicas: 0 },
        pods: ['missing', 'missing', 'missing'],
      }),
      zone('b'),
    ]),
    want: ['hold a RevisionUnknown'],
  },
  '[scenario 28] does not mind an empty revision of a paused set': {
    given: group([zone('a', { status: { currentRevision: '' }, annotations: paused })]),
    want: [],
  },
  '[scenario 29] finds pods by their owner where the template has no name label, and warns (KW-2)':
    {
      given: group([zone('a', { status: prev, pods: allOld, spec: { templateLabels: {} } })]),
      want: ['warn a NameLabelMissing', 'delete a-0 PodOutdated', 'delete a-1 PodOutdated'],
    },
  '[scenario 30] promotes a set of no replicas and goes on': {
    given: group([
      zone('a', { status: prev, pods: [] }),
      zone('b', { status: prev, pods: allOld }),
    ]),
    want: ['promote a last-hash', 'delete b-0 PodOutdated', 'delete b-1 PodOutdated'],
  },
  '[scenario 33] leaves a paused set alone, and says so': {
    given: group([zone('a', { status: prev, pods: allOld, annotations: paused })]),
    want: ['hold a Paused'],
  },
  '[scenario 33] rolls the next zone while another is paused and available': {
    given: group([
      zone('a', { status: prev, pods: allOld, annotations: paused }),
      zone('b', { status: prev, pods: allOld }),
    ]),
    want: ['hold a Paused', 'delete b-0 PodOutdated', 'delete b-1 PodOutdated'],
  },
  '[scenario 33] takes "false" for not paused': {
    given: group([
      zone('a', {
        status: prev,
        pods: allOld,
        annotations: { 'rollout-max-unavailable': '1', 'grafana.com/rollout-paused': 'false' },
      }),
    ]),
    want: ['delete a-0 PodOutdated'],
  },
  'takes a pause that cannot be read for one, and warns [found R-12]': {
    given: group([
      zone('a', {
        status: prev,
        pods: allOld,
        annotations: { 'rollout-max-unavailable': '1', 'grafana.com/rollout-paused': 'True' },
      }),
    ]),
    want: ['warn a InvalidSwitch', 'hold a Paused'],
  },
  'warns of labels that protect and cannot be read [found R-12]': {
    given: group([
      zone('a', {
        labels: {
          'rollout-group': 'ingester',
          'grafana.com/no-downscale': 'yes',
          'grafana.com/prepare-downscale': 'True',
        },
      }),
    ]),
    want: ['warn a InvalidSwitch', 'warn a InvalidSwitch'],
  },
  '[scenario 34] holds every zone while a paused one is unavailable (KW-3)': {
    given: group([
      zone('a', { status: prev, pods: ['old', 'old', 'old-stuck'], annotations: paused }),
      zone('b', { status: prev, pods: allOld }),
    ]),
    want: ['hold a PausedZoneUnavailable', 'hold b ZoneOrder'],
  },
  '[scenario 38] LIVE-3 replaces the crash-looping pod of a corrected template first': {
    given: group([
      zone('a', { status: prev, pods: ['old-stuck', 'old', 'old'], annotations: oneAtATime }),
    ]),
    want: ['delete a-0 StuckPodReplaced', 'hold a MaxUnavailableReached'],
  },
  '[scenario 1] touches no pod of a group with a set of another strategy': {
    given: group([
      zone('a', {
        status: prev,
        pods: ['old', 'old', 'old-stuck'],
        spec: { updateStrategy: 'RollingUpdate' },
      }),
      zone('b', { status: prev, pods: allOld }),
    ]),
    want: ['hold a WrongUpdateStrategy'],
  },
  'MAXU-2 counts a pod whose deletion is not yet seen as unavailable': {
    given: group([zone('a', { status: prev, pods: allOld })], {
      leaving: new Set(['ingester-zone-a-0-uid']),
    }),
    want: ['delete a-1 PodOutdated'],
  },
  'EXCL-1 disrupts one of two outdated zones': {
    given: group([
      zone('a', { status: prev, pods: allOld }),
      zone('b', { status: prev, pods: allOld }),
    ]),
    want: ['delete a-0 PodOutdated', 'delete a-1 PodOutdated', 'hold b ZoneOrder'],
  },
  'EXCL-1 holds the next zone while the deletion of an updated pod is not yet seen': {
    given: group([zone('a'), zone('b', { status: prev, pods: allOld })], {
      leaving: new Set(['ingester-zone-a-0-uid']),
    }),
    want: ['hold a ZoneNotReady', 'hold b ZoneOrder'],
  },
  'REV-2 holds while the controller has not observed the newest spec': {
    given: group([
      zone('a', { generation: 2, status: prev, pods: allOld }),
      zone('b', { status: prev, pods: allOld }),
    ]),
    want: ['hold a RevisionUnknown', 'hold b ZoneOrder'],
  },
  'MAXU-2 counts a ready pod that is not yet available, and does not replace it for nothing': {
    given: group([
      zone('a', {
        status: prev,
        spec: { minReady: seconds(30) },
        pods: ['old-settling', 'old', 'old'],
        annotations: oneAtATime,
      }),
    ]),
    want: ['hold a MaxUnavailableReached'],
  },
  'waits for the time that an updated pod needs to be available': {
    given: group([
      zone('a', { spec: { minReady: seconds(30) }, pods: ['settling', 'current', 'current'] }),
      zone('b', { status: prev, pods: allOld }),
    ]),
    want: ['hold a ZoneSettling', 'hold b ZoneOrder'],
  },
  'counts slots of a set that scales up as unavailable': {
    given: group([zone('a', { spec: { replicas: 4 } }), zone('b', { status: prev, pods: allOld })]),
    want: ['hold a ZoneNotReady', 'hold b ZoneOrder'],
  },
  'leaves a set that is being deleted alone, and the others wait for its pods': {
    given: group([
      zone('a', { isDeleting: true, status: prev, pods: ['old', 'old', 'old-terminating'] }),
      zone('b', { status: prev, pods: allOld }),
    ]),
    want: ['hold a ZoneNotReady', 'hold b ZoneOrder'],
  },
  'replaces no broken pod of a set that is being deleted': {
    given: group([
      zone('a', { isDeleting: true, status: prev, pods: ['old', 'old', 'old-stuck'] }),
    ]),
    want: ['hold a ZoneNotReady'],
  },
  'warns of a known key in the wrong map (KW-24)': {
    given: group([
      zone('a', {
        labels: { 'rollout-group': 'ingester', 'rollout-max-unavailable': '3' },
        annotations: {},
      }),
      zone('b', { annotations: { 'grafana.com/no-downscale': 'true' } }),
    ]),
    want: ['warn a MisplacedKey', 'warn b MisplacedKey'],
  },
  'decides nothing for an empty group': { given: group([]), want: [] },
};

for (const [fact, { given, want }] of Object.entries(cases)) {
  test(`planRolloutGroup() ${fact}`, () => {
    assert.deepEqual(lines(given), want);
  });
}

test('planRolloutGroup() [scenario 36] deletes in natural order', () => {
  const pods = ['ingester-zone-a-2', 'ingester-zone-a-10', 'ingester-zone-a-1'].map((name) =>
    podView({ name, revision: 'prev-hash' }),
  );
  const current = [0, 3, 4, 5, 6, 7, 8, 9].map((index) =>
    podView({ name: `ingester-zone-a-${index}` }),
  );
  const states: readonly PodState[] = Array.from({ length: 11 }, () => 'missing');
  const given = group([zone('a', { status: prev, pods: states, extra: [...pods, ...current] })]);
  assert.deepEqual(lines(given), ['delete a-1 PodOutdated', 'delete a-2 PodOutdated']);
});

test('planRolloutGroup() [scenario 1] names the set and the strategy in its failure', () => {
  const given = group([zone('a', { spec: { updateStrategy: 'RollingUpdate' } })]);
  const { failure } = planRolloutGroup(given, T0);
  assert.match(failure ?? '', /"ingester-zone-a".*"RollingUpdate".*"OnDelete"/);
});

test('planRolloutGroup() [scenario 3] counts a hold as a success', () => {
  const given = group([zone('a', { pods: ['unready'] }), zone('b', { pods: ['unready'] })]);
  assert.equal(planRolloutGroup(given, T0).failure, undefined);
});

test('planRolloutGroup() names each broken pod with what is wrong', () => {
  const broken = podView({
    name: 'ingester-zone-a-0',
    readySince: undefined,
    areContainersReady: false,
    trouble: 'ImagePullBackOff',
  });
  const given = group([
    zone('a', { pods: ['missing', 'terminating', 'current'], extra: [broken] }),
  ]);
  const [hold] = planRolloutGroup(given, T0).decisions;
  assert.equal(
    hold?.because.message,
    'ingester-zone-a has unavailable pods: ingester-zone-a-0 (ImagePullBackOff), ingester-zone-a-1 (terminating)',
  );
});

test('planRolloutGroup() says of a pod that should have been gone a minute ago since when, and looks again then [found R-14]', () => {
  const goneBy = after(T0, seconds(30));
  const parted = { isTerminating: true, goneBy, readySince: undefined };
  const pods = [
    podView({ name: 'ingester-zone-a-0', ...parted }),
    podView({ name: 'ingester-zone-a-1', ...parted, unready: unready({ isOutOfReach: true }) }),
  ];
  const given = group([zone('a', { pods: ['missing', 'missing', 'current'], extra: pods })]);
  const early = planRolloutGroup(given, after(T0, seconds(89)));
  assert.equal(
    early.decisions[0]?.because.message,
    'ingester-zone-a has unavailable pods: ingester-zone-a-0 (terminating), ingester-zone-a-1 (terminating)',
  );
  assert.deepEqual(early.requeue, { kind: 'at', at: after(T0, seconds(90)) });
  const late = planRolloutGroup(given, after(T0, seconds(90)));
  assert.equal(
    late.decisions[0]?.because.message,
    'ingester-zone-a has unavailable pods: ' +
      'ingester-zone-a-0 (terminating, should have been gone by 2026-01-01T00:00:30Z: a finalizer or its node keeps it), ' +
      'ingester-zone-a-1 (terminating, should have been gone by 2026-01-01T00:00:30Z: its node may be lost)',
  );
});

test('planRolloutGroup() looks again when the first settling pod is available', () => {
  const given = group([
    zone('a', { spec: { minReady: seconds(30) }, pods: ['settling', 'current', 'current'] }),
  ]);
  const { requeue, decisions } = planRolloutGroup(given, T0);
  assert.deepEqual(requeue, { kind: 'at', at: after(T0, seconds(25)) });
  assert.equal(
    decisions[0]?.kind === 'hold' ? decisions[0].until : undefined,
    after(T0, seconds(25)),
  );
});

test('planRolloutGroup() takes a Ready pod without minReadySeconds for available, whatever its clock says (D-55)', () => {
  const future = podView({ name: 'ingester-zone-a-0', readySince: after(T0, seconds(60)) });
  const given = group([zone('a', { pods: ['missing', 'current', 'current'], extra: [future] })]);
  assert.deepEqual(lines(given), []);
});

test('planRolloutGroup() counts a Ready time in the future as now (D-55)', () => {
  const future = podView({ name: 'ingester-zone-a-0', readySince: after(T0, seconds(3_600)) });
  const pods = ['missing', 'current', 'current'] as const;
  const given = group([zone('a', { spec: { minReady: seconds(30) }, pods, extra: [future] })]);
  const watched = {
    now: monotonic(7_200_000),
    since: new Map(),
    witnessed: new Set<string>(),
    served: new Set<string>(),
    gone: new Map(),
    begun: monotonic(0),
  };
  assert.deepEqual(lines({ ...given, watched }), ['hold a ZoneSettling']);
  assert.deepEqual(planRolloutGroup({ ...given, watched }, T0).requeue, {
    kind: 'at',
    at: after(T0, seconds(30)),
  });
});

test('planRolloutGroup() ends the wait for a Ready time in the future when this process has watched it pass (D-55)', () => {
  const future = podView({ name: 'ingester-zone-a-0', readySince: after(T0, seconds(3_600)) });
  const pods = ['missing', 'current', 'current'] as const;
  const given = group([zone('a', { spec: { minReady: seconds(30) }, pods, extra: [future] })]);
  const at = (seen: number): readonly string[] => {
    const since = new Map([[future.uid, monotonic(7_200_000 - seen)]]);
    const watched = {
      now: monotonic(7_200_000),
      since,
      witnessed: new Set<string>(),
      served: new Set<string>(),
      gone: new Map(),
      begun: monotonic(0),
    };
    return lines({ ...given, watched });
  };
  assert.deepEqual(at(29_999), ['hold a ZoneSettling']);
  assert.deepEqual(at(30_000), []);
});

test('planRolloutGroup() takes a pod for available at the very moment when minReadySeconds have passed', () => {
  const given = group([zone('a', { spec: { minReady: seconds(3_600) }, status: prev })]);
  assert.equal(readySince, T0 - 3_600_000);
  assert.deepEqual(lines(given), ['promote a last-hash']);
});

test('planRolloutGroup() REV-1 names the uid and resourceVersion that it decided on', () => {
  const [decision] = planRolloutGroup(
    group([zone('a', { status: prev, pods: allOld })]),
    T0,
  ).decisions;
  assert.deepEqual(decision?.kind === 'delete-pod' ? decision.pod : undefined, {
    namespace: 'test',
    name: 'ingester-zone-a-0',
    uid: 'ingester-zone-a-0-uid',
    resourceVersion: '1',
    revision: 'prev-hash',
  });
});
