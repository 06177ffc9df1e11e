import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant } from '#base/units.ts';
import { setFacts } from '../history/facts.ts';
import type { ZoneTruth } from '../invariants/liveness/reasons.ts';
import { worldReasons } from './world-reasons.ts';

interface Zone {
  readonly name: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly unavailable?: readonly number[];
  readonly outdated?: readonly number[];
}

function truthOf({ name, annotations = {}, labels = {}, ...rest }: Zone): ZoneTruth {
  const set = setFacts({ metadata: { namespace: 'n', name, uid: name, annotations, labels } });
  return { set, unavailable: [], outdated: [], ripening: [], ...rest };
}

function isTrue(reason: string, zones: readonly Zone[], set?: string): boolean | undefined {
  const said = {
    at: instant(0),
    namespace: 'n',
    group: 'g',
    reason,
    ...(set !== undefined && { set }),
  };
  return worldReasons[reason]?.(zones.map(truthOf), said);
}

const follows = { annotations: { 'grafana.com/rollout-downscale-leader': 'a' } };
const gated = {
  annotations: {
    ...follows.annotations,
    'grafana.com/rollout-upscale-only-when-leader-ready': 'true',
  },
};
const mirrors = { annotations: { 'grafana.com/rollout-mirror-replicas-from-resource-name': 'r' } };
const delays = { annotations: { 'grafana.com/rollout-delayed-downscale': '1h' } };
const noted = { annotations: { 'rollout-operator/prepared-at': 'http://pod/prepare' } };
const timed = { labels: { 'grafana.com/min-time-between-zones-downscale': '1h' } };
const plain = [{ name: 'a' }, { name: 'b' }];

const truths: Record<string, readonly [reason: string, zones: readonly Zone[]]> = {
  'a leader that the group lacks': ['LeaderNotFound', [{ name: 'b', ...follows }]],
  'a leader with an unavailable pod': [
    'LeaderNotReady',
    [
      { name: 'a', unavailable: [0] },
      { name: 'b', ...gated },
    ],
  ],
  'a minimum time by its label': ['MinimumTimeNotElapsed', [{ name: 'b', ...timed }]],
  'a follower without a minimum time': ['MinimumTimeUnknown', [{ name: 'b', ...follows }]],
  'a follower with an unknown last down-scale': [
    'LastDownscaleUnknown',
    [{ name: 'b', ...follows }],
  ],
  'two sources of one set': [
    'ConflictingSources',
    [{ name: 'b', annotations: { ...follows.annotations, ...mirrors.annotations } }],
  ],
  'a reference of no known kind': ['ReferenceUnresolved', [{ name: 'b', ...mirrors }]],
  'a reference that cannot be read': ['ReferenceUnreadable', [{ name: 'b', ...mirrors }]],
  'a scaling that is refused': ['ScaleRefused', [{ name: 'b', ...mirrors }]],
  'a scaling that waits for another': ['ScaleOrder', [{ name: 'b', ...follows }]],
  'replicas that two own': ['ReplicasContested', [{ name: 'b', ...follows }]],
  'a down-scale with a delay': ['DownscaleDelayed', [{ name: 'b', ...delays }]],
  'pods that are being asked': ['AwaitingPods', [{ name: 'b', ...delays }]],
  'a pod that does not answer': ['PodNotPrepared', [{ name: 'b', ...delays }]],
  'a pod that does not take that it stays': ['PodsStayPrepared', [{ name: 'b', ...noted }]],
  'a delay that cannot be read': ['InvalidDelayedDownscale', [{ name: 'b', ...delays }]],
  'a zone that lacks a pod': ['ZoneBeingChanged', [{ name: 'b', unavailable: [1] }]],
  'an outdated pod of another zone': ['ZoneOrder', [{ name: 'b', outdated: [1] }]],
};
for (const [fact, [reason, zones]] of Object.entries(truths)) {
  test(`worldReasons.${reason} is true of ${fact}, and of no group where nobody asked for it (LIVE-2)`, () => {
    assert.equal(isTrue(reason, zones), true);
    assert.equal(isTrue(reason, plain), false);
  });
}

test('worldReasons.LeaderNotReady is false of a leader that lacks nothing, or without the gate (LIVE-2)', () => {
  assert.equal(isTrue('LeaderNotReady', [{ name: 'a' }, { name: 'b', ...gated }]), false);
  const unready = { name: 'a', unavailable: [0] };
  assert.equal(isTrue('LeaderNotReady', [unready, { name: 'b', ...follows }]), false);
});

test('worldReasons ask the set that a statement names (LIVE-2)', () => {
  const zones = [{ name: 'a' }, { name: 'b', ...delays }];
  assert.deepEqual(
    [isTrue('DownscaleDelayed', zones, 'b'), isTrue('DownscaleDelayed', zones, 'a')],
    [true, false],
  );
});
