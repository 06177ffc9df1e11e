import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, seconds } from '#base/units.ts';
import type { Decision } from '#control/decision.ts';
import type { SetSnapshot } from '#control/group-sets.ts';
import { type Budgets, unbudgeted } from '#disruption/verdict.ts';
import type { PodView } from '#statefulset/view.ts';
import {
  podView,
  readySince,
  type StatefulSetOverrides,
  statefulSetView,
  T0,
} from '#testing/views.ts';
import { planRolloutGroup } from './plan.ts';
import type { GroupSnapshot } from './snapshot.ts';

/** What stands in the place of one ordinal: a current pod, an outdated one, and so on. */
type PodState =
  | 'current'
  | 'old'
  | 'old-unready'
  | 'old-terminating'
  | 'old-settling'
  | 'unready'
  | 'terminating'
  | 'settling'
  | 'missing'
  | 'unlabelled';

const overrides: Record<Exclude<PodState, 'missing'>, Partial<PodView>> = {
  current: {},
  old: { revision: 'prev-hash' },
  'old-unready': { revision: 'prev-hash', readySince: undefined, areContainersReady: false },
  'old-terminating': { revision: 'prev-hash', isTerminating: true },
  'old-settling': { revision: 'prev-hash', readySince: after(T0, seconds(-5)) },
  unready: { readySince: undefined, areContainersReady: false },
  terminating: { isTerminating: true },
  settling: { readySince: after(T0, seconds(-5)) },
  unlabelled: { revision: undefined },
};

interface ZoneSpec extends StatefulSetOverrides {
  /** One state an ordinal, from 0. */
  readonly pods?: readonly PodState[];
  /** Further pods as they are. */
  readonly extra?: readonly PodView[];
}

const prev: StatefulSetOverrides['status'] = { currentRevision: 'prev-hash' };
const allOld = ['old', 'old', 'old'] as const;

function zone(letter: string, spec: ZoneSpec = {}): SetSnapshot {
  const name = spec.name ?? `ingester-zone-${letter}`;
  const states = spec.pods ?? ['current', 'current', 'current'];
  const set = statefulSetView({
    ...spec,
    name,
    spec: { replicas: states.length, ...spec.spec },
    status: { replicas: states.length, readyReplicas: states.length, ...spec.status },
  });
  const pods = states.flatMap((state, index) =>
    state === 'missing'
      ? []
      : [podView({ name: `${name}-${index}`, controllerUid: set.uid, ...overrides[state] })],
  );
  return { set, pods: [...pods, ...(spec.extra ?? [])], orphans: [] };
}

function group(sets: readonly SetSnapshot[], rest: Partial<GroupSnapshot> = {}): GroupSnapshot {
  return {
    namespace: 'test',
    group: 'ingester',
    sets,
    leaving: new Set(),
    budgets: unbudgeted,
    unbuilt: undefined,
    ...rest,
  };
}

/** A decision in one line: what, to whom, why; settings of no interest left out. */
function line(decision: Decision): string {
  const { reason } = decision.because;
  switch (decision.kind) {
    case 'delete-pod':
      return `delete ${decision.pod.name.replace('ingester-zone-', '')} ${reason}`;
    case 'set-current-revision':
      return `promote ${decision.set.name.replace('ingester-zone-', '')} ${decision.to}`;
    default:
      return `${decision.kind} ${decision.set.name.replace('ingester-zone-', '')} ${reason}`;
  }
}

function lines(snapshot: GroupSnapshot, now = T0): readonly string[] {
  return planRolloutGroup(snapshot, now).decisions.map(line);
}

const oneAtATime = { 'rollout-max-unavailable': '1' };
const paused = { 'rollout-max-unavailable': '2', 'grafana.com/rollout-paused': 'true' };

function verdicts(answers: Readonly<Record<string, 'allowed' | 'refused'>>): Budgets {
  return {
    partitionAwareness: () => 'unaware',
    verdict: ({ podName }) =>
      answers[podName] === 'allowed'
        ? { kind: 'allowed' }
        : { kind: 'refused', message: `a budget protects ${podName}` },
  };
}

const cases: Record<string, { readonly given: GroupSnapshot; readonly want: readonly string[] }> = {
  '[scenario 3] replaces broken outdated pods of two zones at once and holds the rest (D-11)': {
    given: group([
      zone('a', { status: prev, pods: ['old', 'old', 'old-unready'] }),
      zone('b', { status: prev, pods: ['old', 'old-unready', 'old-unready'] }),
      zone('c'),
    ]),
    want: [
      'delete a-2 UnavailablePodOutdated',
      'delete b-1 UnavailablePodOutdated',
      'delete b-2 UnavailablePodOutdated',
      'hold a MultipleZonesUnavailable',
    ],
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
  '[scenario 8] leaves out a pod that a budget refuses': {
    given: group([zone('a'), zone('b', { status: prev, pods: allOld })], {
      budgets: verdicts({ 'ingester-zone-b-0': 'allowed', 'ingester-zone-b-1': 'refused' }),
    }),
    want: ['delete b-0 PodOutdated'],
  },
  '[scenario 9] asks for no third pod when the first is refused': {
    given: group([zone('a'), zone('b', { status: prev, pods: allOld })], {
      budgets: verdicts({
        'ingester-zone-b-0': 'refused',
        'ingester-zone-b-1': 'allowed',
        'ingester-zone-b-2': 'allowed',
      }),
    }),
    want: ['delete b-1 PodOutdated'],
  },
  '[scenario 10] deletes nothing and leaves later zones alone when a budget refuses every pod': {
    given: group(
      [zone('a', { status: prev, pods: allOld }), zone('b', { status: prev, pods: allOld })],
      { budgets: verdicts({}) },
    ),
    want: ['hold a BudgetRefused', 'hold b ZoneOrder'],
  },
  '[scenario 12] fails and deletes nothing when it is unclear which budget governs': {
    given: group([zone('a', { status: prev, pods: allOld })], {
      budgets: {
        ...unbudgeted,
        partitionAwareness: () => ({ kind: 'unclear', message: 'two budgets match' }),
      },
    }),
    want: ['hold a BudgetUnclear'],
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
  '[scenario 16] replaces unready outdated pods even when the limit is spent': {
    given: group([
      zone('a', { status: prev, pods: allOld }),
      zone('b', { status: prev, pods: ['old', 'old-unready', 'old-unready'] }),
    ]),
    want: [
      'delete b-1 UnavailablePodOutdated',
      'delete b-2 UnavailablePodOutdated',
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
  '[scenario 24] R1 EXCL-2 leaves the next zone alone while all pods of a zone are missing': {
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
  '[scenario 33] takes no other text than "true" for paused': {
    given: group([
      zone('a', {
        status: prev,
        pods: allOld,
        annotations: { 'rollout-max-unavailable': '1', 'grafana.com/rollout-paused': 'True' },
      }),
    ]),
    want: ['delete a-0 PodOutdated'],
  },
  '[scenario 34] holds every zone while a paused one is unavailable (KW-3)': {
    given: group([
      zone('a', { status: prev, pods: ['old', 'old', 'old-unready'], annotations: paused }),
      zone('b', { status: prev, pods: allOld }),
    ]),
    want: ['hold a PausedZoneUnavailable', 'hold b ZoneOrder'],
  },
  '[scenario 38] R13 LIVE-3 replaces the crash-looping pod of a corrected template first': {
    given: group([
      zone('a', { status: prev, pods: ['old-unready', 'old', 'old'], annotations: oneAtATime }),
    ]),
    want: ['delete a-0 UnavailablePodOutdated', 'hold a MaxUnavailableReached'],
  },
  '[scenario 1] touches no pod of a group with a set of another strategy': {
    given: group([
      zone('a', {
        status: prev,
        pods: ['old', 'old', 'old-unready'],
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
  'R1 counts slots of a set that scales up as unavailable': {
    given: group([zone('a', { spec: { replicas: 4 } }), zone('b', { status: prev, pods: allOld })]),
    want: ['hold a ZoneNotReady', 'hold b ZoneOrder'],
  },
  'holds a group that asks for a capability that is not built (D-13)': {
    given: group([zone('a', { status: prev, pods: ['old', 'old', 'old-unready'] })], {
      unbuilt: 'it mirrors replicas',
    }),
    want: ['hold a CapabilityNotBuilt'],
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
      zone('a', { isDeleting: true, status: prev, pods: ['old', 'old', 'old-unready'] }),
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

test('planRolloutGroup() [scenario 11] passes the limit to a budget that knows no partitions, and 1 to one that does', () => {
  const asked: number[] = [];
  const asking = (awareness: 'aware' | 'unaware'): Budgets => ({
    partitionAwareness: () => awareness,
    verdict: ({ override }) => {
      asked.push(override);
      return { kind: 'allowed' };
    },
  });
  const outdated = zone('a', { status: prev, pods: allOld });
  const unreadable = zone('a', {
    status: prev,
    pods: allOld,
    annotations: { 'rollout-max-unavailable': 'xxx' },
  });
  lines(group([outdated], { budgets: asking('unaware') }));
  lines(group([unreadable], { budgets: asking('unaware') }));
  lines(group([outdated], { budgets: asking('aware') }));
  assert.deepEqual(asked, [2, 2, 1, 1, 1]);
});

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
  const { outcome } = planRolloutGroup(given, T0);
  assert.equal(outcome.kind, 'failed');
  assert.match(
    outcome.kind === 'failed' ? outcome.message : '',
    /"ingester-zone-a".*"RollingUpdate".*"OnDelete"/,
  );
});

test('planRolloutGroup() [scenario 3] counts a hold as a success', () => {
  const given = group([zone('a', { pods: ['unready'] }), zone('b', { pods: ['unready'] })]);
  assert.deepEqual(planRolloutGroup(given, T0).outcome, { kind: 'succeeded' });
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

test('planRolloutGroup() takes a Ready time in the future for "not yet" (D-10)', () => {
  const future = podView({ name: 'ingester-zone-a-0', readySince: after(T0, seconds(60)) });
  const given = group([zone('a', { pods: ['missing', 'current', 'current'], extra: [future] })]);
  assert.deepEqual(lines(given), ['hold a ZoneSettling']);
});

test('planRolloutGroup() takes a pod for available in the very moment that minReadySeconds have passed', () => {
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
