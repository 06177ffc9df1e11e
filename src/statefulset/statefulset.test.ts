import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, type Instant, millis, monotonic, seconds } from '#base/units.ts';
import { podView, readySince, statefulSetView, T0 } from '#support/objects/views.ts';
import { availableFrom, canHaveBeenAvailable } from './availability.ts';
import { formatLabelSelector, matchesLabelSelector } from './label-selector.ts';
import { ordinalsOf, parseOrdinal } from './parse-ordinal.ts';
import { parseStatefulSet } from './parse-statefulset.ts';
import { isOutdated, successorRevision, targetRevision } from './revision.ts';
import { slotsOf } from './slot.ts';

const names: readonly (readonly [pod: string, set: string, want: number | undefined])[] = [
  ['web-0', 'web', 0],
  ['web-10', 'web', 10],
  ['web-010', 'web', undefined],
  ['web-', 'web', undefined],
  ['web', 'web', undefined],
  ['web-1-2', 'web', undefined],
  ['web-1-2', 'web-1', 2],
  ['other-1', 'web', undefined],
  ['web--1', 'web', undefined],
  ['web-1e1', 'web', undefined],
];

for (const [pod, set, want] of names) {
  test(`parseOrdinal() reads ${want} from "${pod}" of "${set}"`, () => {
    assert.equal(parseOrdinal(pod, set), want);
  });
}

test('ordinalsOf() begins at spec.ordinals.start and lasts for the greater of both counts', () => {
  const growing = statefulSetView({
    spec: { replicas: 3, ordinalsStart: 5 },
    status: { replicas: 1 },
  });
  const shrinking = statefulSetView({ spec: { replicas: 1 }, status: { replicas: 3 } });
  assert.deepEqual(ordinalsOf(growing), [5, 6, 7]);
  assert.deepEqual(ordinalsOf(shrinking), [0, 1, 2]);
});

test('targetRevision() is unknown while the newest spec is not observed, or no revision is reported', () => {
  assert.equal(targetRevision(statefulSetView()), 'last-hash');
  assert.equal(targetRevision(statefulSetView({ generation: 2 })), undefined);
  assert.equal(targetRevision(statefulSetView({ status: { updateRevision: '' } })), undefined);
});

test('isOutdated() compares the whole revision name', () => {
  assert.equal(isOutdated(podView(), 'last-hash'), false);
  assert.equal(isOutdated(podView(), 'last-hash2'), true);
  assert.equal(isOutdated(podView({ revision: undefined }), 'last-hash'), true);
});

const byPartition = { updateStrategy: 'RollingUpdate', partition: 2, ordinalsStart: 5 };
const moving = { currentRevision: 'old', updateRevision: 'new' };
const successors: Record<
  string,
  { readonly set: Parameters<typeof statefulSetView>[0]; readonly ordinal: number; want?: string }
> = {
  'the current revision below the partition': {
    set: { spec: byPartition, status: moving },
    ordinal: 6,
    want: 'old',
  },
  'the update revision from the partition on': {
    set: { spec: byPartition, status: moving },
    ordinal: 7,
    want: 'new',
  },
  'the update revision of a set that is replaced on delete, which has no partition': {
    set: { spec: { ...byPartition, updateStrategy: 'OnDelete' }, status: moving },
    ordinal: 6,
    want: 'new',
  },
  'nothing while the newest spec is not observed': {
    set: { generation: 2, spec: byPartition, status: moving },
    ordinal: 6,
  },
  'nothing below the partition while there is no current revision': {
    set: { spec: byPartition, status: { ...moving, currentRevision: '' } },
    ordinal: 6,
  },
};

for (const [what, { set, ordinal, want }] of Object.entries(successors)) {
  test(`successorRevision() is ${what} (D-48)`, () => {
    const name = parseOrdinal(`web-${ordinal}`, 'web');
    assert.equal(name === undefined ? '' : successorRevision(statefulSetView(set), name), want);
  });
}

test('availableFrom() is the Ready transition plus minReadySeconds, and nothing while not ready', () => {
  const moment = { now: T0 };
  assert.equal(availableFrom(podView(), seconds(30), moment), after(readySince, seconds(30)));
  assert.equal(availableFrom(podView({ isTerminating: true }), millis(0), moment), undefined);
});

const losses: Record<
  string,
  { readonly after?: number; readonly minReady: number; want: boolean }
> = {
  'it was never ready': { after: 0, minReady: 0, want: false },
  'whole seconds cannot tell': { after: 1_000, minReady: 0, want: false },
  'it was ready': { after: 2_000, minReady: 0, want: true },
  'it cannot have been ready for minReadySeconds': { after: 31_000, minReady: 30, want: false },
  'it can have been ready for minReadySeconds': { after: 32_000, minReady: 30, want: true },
  'its status does not tell': { minReady: 0, want: false },
};

for (const [fact, { after: lostAfter, minReady, want }] of Object.entries(losses)) {
  test(`canHaveBeenAvailable() answers ${want} where ${fact}`, () => {
    const unreadyAfter = lostAfter === undefined ? undefined : millis(lostAfter);
    const pod = podView({ readySince: undefined, unreadyAfter });
    assert.equal(canHaveBeenAvailable(pod, seconds(minReady)), want);
  });
}

const moments: Record<
  string,
  {
    readonly since: Instant | undefined;
    readonly minReady: number;
    readonly seen?: number;
    readonly isWitnessed?: boolean;
    readonly want: number | 'unknown';
  }
> = {
  'now without minReadySeconds, although the time is to come': {
    since: after(T0, seconds(60)),
    minReady: 0,
    want: 0,
  },
  'now without minReadySeconds, although there is no time': {
    since: undefined,
    minReady: 0,
    want: 0,
  },
  'unknown with minReadySeconds and without a time': {
    since: undefined,
    minReady: 30,
    want: 'unknown',
  },
  'minReadySeconds from the time': { since: after(T0, seconds(-10)), minReady: 30, want: 20 },
  'minReadySeconds from now where the time is to come': {
    since: after(T0, seconds(60)),
    minReady: 30,
    want: 30,
  },
  'what is left of minReadySeconds by what was watched where the time is to come': {
    since: after(T0, seconds(60)),
    minReady: 30,
    seen: 25,
    want: 5,
  },
  'what is left by the time where less was watched': {
    since: after(T0, seconds(-10)),
    minReady: 30,
    seen: 2,
    want: 20,
  },
  'what is left by what was watched where the pod was seen to become Ready, whatever its time says':
    {
      since: after(T0, seconds(-3_600)),
      minReady: 30,
      seen: 2,
      isWitnessed: true,
      want: 28,
    },
};

for (const [what, { since, minReady, seen, isWitnessed, want }] of Object.entries(moments)) {
  test(`availableFrom() is ${what} (D-55)`, () => {
    const pod = podView({ readySince: since, unready: undefined });
    const now = monotonic(3_600_000);
    const watched = {
      now,
      since: new Map(seen === undefined ? [] : [[pod.uid, monotonic(now - seen * 1_000)]]),
      witnessed: new Set(isWitnessed === true ? [pod.uid] : []),
      served: new Set<string>(),
      gone: new Map(),
      begun: monotonic(0),
    };
    const from = availableFrom(pod, seconds(minReady), { now: T0, watched });
    assert.equal(from, want === 'unknown' ? want : after(T0, seconds(want)));
  });
}

test('slotsOf() has one slot of a set that is too large, and it is not available (D-56)', () => {
  const large = statefulSetView({ spec: { replicas: 2_147_483_647 } });
  const pods = [podView()];
  assert.deepEqual(slotsOf({ set: large, pods, leaving: new Set() }, T0), [
    { kind: 'missing', ordinal: 0 },
  ]);
  const largest = statefulSetView({ spec: { replicas: 20_000 } });
  assert.equal(slotsOf({ set: largest, pods, leaving: new Set() }, T0).length, 20_000);
});

test('slotsOf() gives every ordinal a slot, and pods elsewhere none', () => {
  const set = statefulSetView({ spec: { minReady: seconds(10) } });
  const pods = [
    podView({ name: 'ingester-zone-a-1', readySince: after(T0, seconds(-4)) }),
    podView({ name: 'ingester-zone-a-2', uid: 'leaving' }),
    podView({ name: 'ingester-zone-a-9' }),
    podView({ name: 'stranger-0' }),
  ];
  const slots = slotsOf({ set, pods, leaving: new Set(['leaving']) }, T0);
  assert.deepEqual(
    slots.map(({ ordinal, kind }) => [ordinal, kind]),
    [
      [0, 'missing'],
      [1, 'settling'],
      [2, 'terminating'],
    ],
  );
});

test('parseStatefulSet() has the value of the API server for what is absent', () => {
  const view = parseStatefulSet({ metadata: { name: 'web', namespace: 'demo' } });
  assert.equal(view.spec.replicas, 1);
  assert.equal(view.spec.updateStrategy, 'RollingUpdate');
  assert.equal(view.spec.ordinalsStart, 0);
  assert.equal(view.spec.partition, 0);
  assert.equal(view.spec.isOrdered, true);
  assert.deepEqual(view.status, {
    observedGeneration: 0,
    replicas: 0,
    readyReplicas: 0,
    currentRevision: '',
    updateRevision: '',
  });
});

test('parseStatefulSet() reads the partition, and whether pods are made in order', () => {
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 3 } };
  const { spec } = parseStatefulSet({ spec: { updateStrategy, podManagementPolicy: 'Parallel' } });
  assert.deepEqual([spec.partition, spec.isOrdered], [3, false]);
});

test('parseStatefulSet() keeps all labels, and of annotations only those that are read from there', () => {
  const map = {
    'rollout-group': 'g',
    'grafana.com/no-downscale': 'true',
    team: 'x',
    'kubectl.kubernetes.io/x': '{}',
    'bedrock.operator.slack.com/last-applied': '{}',
  };
  const view = parseStatefulSet({ metadata: { labels: map, annotations: map } });
  assert.deepEqual(view.labels, map);
  assert.deepEqual(view.annotations, { 'rollout-group': 'g', 'grafana.com/no-downscale': 'true' });
});

test('formatLabelSelector() writes every operator in the form of the query parameter', () => {
  const selector = {
    matchLabels: { app: 'ingester', zone: 'a' },
    matchExpressions: [
      { key: 'tier', operator: 'In', values: ['x', 'y'] },
      { key: 'old', operator: 'NotIn', values: ['z'] },
      { key: 'name', operator: 'Exists' },
      { key: 'canary', operator: 'DoesNotExist' },
    ],
  };
  assert.equal(
    formatLabelSelector(selector),
    'app=ingester,zone=a,tier in (x,y),old notin (z),name,!canary',
  );
});

const selectors: Record<
  string,
  { readonly selector: Parameters<typeof matchesLabelSelector>[0]; readonly want: boolean }
> = {
  'nothing for null': { selector: null, want: false },
  'nothing when absent': { selector: undefined, want: false },
  'everything for {}': { selector: {}, want: true },
  'equal labels': { selector: { matchLabels: { app: 'ingester' } }, want: true },
  'no other value': { selector: { matchLabels: { app: 'other' } }, want: false },
  In: {
    selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['ingester'] }] },
    want: true,
  },
  'no absent key for In': {
    selector: { matchExpressions: [{ key: 'x', operator: 'In', values: ['y'] }] },
    want: false,
  },
  'an absent key for NotIn': {
    selector: { matchExpressions: [{ key: 'x', operator: 'NotIn', values: ['y'] }] },
    want: true,
  },
  Exists: { selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] }, want: true },
  'no present key for DoesNotExist': {
    selector: { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] },
    want: false,
  },
  'an operator that is not known, as it may govern': {
    selector: { matchExpressions: [{ key: 'app', operator: 'Like' }] },
    want: true,
  },
};

for (const [what, { selector, want }] of Object.entries(selectors)) {
  test(`matchesLabelSelector() matches ${what}`, () => {
    assert.equal(matchesLabelSelector(selector, { app: 'ingester' }), want);
  });
}
