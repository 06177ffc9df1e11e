import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRolled, isSettled, nextStep, type ZoneView, zoneView } from './zone-view.ts';

interface PodFixture {
  readonly revision?: string;
  readonly isReady?: boolean;
  readonly isTerminating?: boolean;
  readonly trouble?: string;
  readonly uid?: string;
}

const set = {
  metadata: {
    name: 'db',
    uid: 'u-1',
    generation: 2,
    annotations: { 'rollout-max-unavailable': '2' },
  },
  spec: { replicas: 1, template: { metadata: { labels: { zone: 'zone-a' } } } },
  status: { observedGeneration: 2, currentRevision: 'db-old', updateRevision: 'db-new' },
};

function pod({ revision = 'db-new', isReady = true, uid = 'u-1', ...more }: PodFixture) {
  const { isTerminating = false, trouble } = more;
  return {
    metadata: {
      name: 'db-0',
      labels: { 'controller-revision-hash': revision },
      ownerReferences: [{ uid, controller: true }],
      ...(isTerminating && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
      containerStatuses: [{ state: trouble === undefined ? {} : { waiting: { reason: trouble } } }],
    },
  };
}

const cells: Record<string, { given: PodFixture | undefined; want: string }> = {
  'a ready pod of the wanted revision': { given: {}, want: 'ready new' },
  'a ready pod of another revision': { given: { revision: 'db-old' }, want: 'ready old' },
  'a pod that is not ready yet': { given: { isReady: false }, want: 'starting new' },
  'a pod whose containers are being created': {
    given: { isReady: false, trouble: 'ContainerCreating' },
    want: 'starting new',
  },
  'a pod whose image cannot be pulled': {
    given: { isReady: false, trouble: 'ImagePullBackOff' },
    want: 'broken new',
  },
  'a pod that goes, although it is ready': {
    given: { isTerminating: true },
    want: 'terminating new',
  },
  'no pod': { given: undefined, want: 'gone old' },
  'a pod that another set owns, as none': { given: { uid: 'u-2' }, want: 'gone old' },
};

for (const [fact, { given, want }] of Object.entries(cells)) {
  test(`zoneView() shows ${fact}`, () => {
    const zone = zoneView(set, () => (given === undefined ? undefined : pod(given)));
    const [cell] = zone.cells;
    assert.equal(`${cell?.state} ${cell?.isUpdated === true ? 'new' : 'old'}`, want);
    assert.equal(zone.unavailable, want.startsWith('ready') ? 0 : 1);
    assert.equal(zone.limit, 2);
    assert.equal(zone.zone, 'zone-a');
  });
}

test('isRolled() waits for the pods and the newest status, isSettled() also for currentRevision', () => {
  const rolled = zoneView(set, () => pod({}));
  assert.equal(isRolled(rolled), true);
  assert.equal(isSettled(rolled), false);
  assert.equal(isSettled({ ...rolled, current: 'db-new' }), true);
  assert.equal(isRolled({ ...rolled, isObserved: false }), false);
});

function zone(name: string, pods: string): ZoneView {
  const states = pods.split('').map((letter, index) => ({
    pod: `${name}-${index}`,
    state: letter === 's' ? ('starting' as const) : ('ready' as const),
    isUpdated: letter !== 'o',
    trouble: '',
  }));
  return {
    set: name,
    zone: name,
    cells: states,
    current: '',
    target: '',
    isObserved: true,
    limit: 1,
    unavailable: states.filter(({ state }) => state !== 'ready').length,
    outdated: states.filter(({ isUpdated }) => !isUpdated).length,
  };
}

const steps: Record<string, { zones: readonly ZoneView[]; want: string }> = {
  'is the first outdated pod, then the zones behind it': {
    zones: [zone('a', 'nsoo'), zone('b', 'oo'), zone('c', 'oo')],
    want: 'a-2, then b, c',
  },
  'is the next zone when only starting pods are left': {
    zones: [zone('a', 'nns'), zone('b', 'oo')],
    want: 'b',
  },
  'stays with the zone that has unavailable pods': {
    zones: [zone('a', 'oo'), zone('b', 'so')],
    want: 'b-1, then a',
  },
  'is the last pods becoming ready': {
    zones: [zone('a', 'nn'), zone('b', 'ns')],
    want: 'the last pods of b become ready',
  },
  'is nothing when all is done': {
    zones: [zone('a', 'nn')],
    want: 'nothing: every pod runs what its set wants',
  },
};

for (const [fact, { zones, want }] of Object.entries(steps)) {
  test(`nextStep() ${fact}`, () => {
    assert.equal(nextStep(zones), want);
  });
}
