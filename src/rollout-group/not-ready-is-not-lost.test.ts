/** What was once demonstrated of this planner, from the objects of an API server to the plan: pods were deleted for no fault of theirs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { after, type Monotonic, monotonic, seconds } from '#base/units.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import { parseStatefulSet } from '#statefulset/parse-statefulset.ts';
import {
  type RawPodOptions,
  type RawStatefulSetOptions,
  rawPod,
  rawStatefulSet,
} from '#support/objects/objects.ts';
import { readySince, T0 } from '#support/objects/views.ts';
import { formatRfc3339 } from '#support/oracles/rfc3339.ts';
import { group } from '#support/rollouts/rollout-zones.ts';
import { planRolloutGroup } from './plan.ts';
import type { GroupSnapshot } from './snapshot.ts';

const zones = ['a', 'b', 'c'] as const;
const running = { running: { startedAt: formatRfc3339(readySince) } };

interface Scene {
  readonly set?: RawStatefulSetOptions;
  readonly pod: (zone: string, ordinal: number) => RawPodOptions;
  /** Since when this process has seen each pod as it is. @default for an hour */
  readonly watchedSince?: Monotonic;
}

/** Three zones of three pods that are to leave `prev-hash`, limit 1. */
function snapshotOf({ set, pod, watchedSince = monotonic(0) }: Scene): GroupSnapshot {
  const sets = zones.map((zone) => {
    const name = `ingester-zone-${zone}`;
    const raw = rawStatefulSet({
      name,
      maxUnavailable: '1',
      currentRevision: 'prev-hash',
      ...set,
    });
    const pods = [0, 1, 2].map((ordinal) =>
      parsePod(rawPod({ set: name, ordinal, revision: 'prev-hash', ...pod(zone, ordinal) })),
    );
    return { set: parseStatefulSet(raw), pods, orphans: [] };
  });
  const uids = sets.flatMap(({ pods }) => pods.map(({ uid }) => uid));
  const given = group(sets);
  const since = new Map(uids.map((uid) => [uid, watchedSince]));
  return { ...given, watched: { ...given.watched, now: monotonic(3_600_000), since } };
}

function deleted(scene: Scene): readonly string[] {
  return planRolloutGroup(snapshotOf(scene), T0).decisions.flatMap((decision) =>
    decision.kind === 'delete-pod' ? [decision.pod.name] : [],
  );
}

function unready(since: number, status: JsonObject = {}): RawPodOptions {
  const at = formatRfc3339(after(T0, seconds(-since)));
  return {
    ready: false,
    status: {
      startTime: formatRfc3339(readySince),
      conditions: [
        { type: 'Ready', status: 'False', reason: 'ContainersNotReady', lastTransitionTime: at },
      ],
      ...status,
    },
  };
}

test('planRolloutGroup() deletes nothing while all readiness probes fail for 2 s in the middle of a rollout (D-48)', () => {
  const pod = (zone: string, ordinal: number): RawPodOptions =>
    zone === 'a' && ordinal === 0 ? { ...unready(2), revision: 'last-hash' } : unready(2);
  assert.deepEqual(deleted({ pod, watchedSince: monotonic(3_598_000) }), []);
});

test('planRolloutGroup() leaves stores alone that replay their logs for 40 minutes, their start-up probes running (D-48)', () => {
  const statuses = [{ name: 'ingester', ready: false, started: false, state: running }];
  assert.deepEqual(deleted({ pod: () => unready(2_400, { containerStatuses: statuses }) }), []);
});

test('planRolloutGroup() deletes no pod of nodes that are unreachable for 40 s, or 40 minutes, while the pods serve on (D-48)', () => {
  for (const since of [40, 2_400]) {
    const lastTransitionTime = formatRfc3339(after(T0, seconds(-since)));
    for (const status of ['Unknown', 'False']) {
      // The node controller turns Ready to False, and leaves what the kubelet wrote of the containers as it is.
      const conditions = [{ type: 'Ready', status, lastTransitionTime }];
      const containerStatuses = [{ name: 'ingester', ready: true, started: true, state: running }];
      const lost = {
        status: { conditions, containerStatuses, startTime: formatRfc3339(readySince) },
      };
      const pod = (_: string, ordinal: number): RawPodOptions => (ordinal === 0 ? {} : lost);
      assert.deepEqual(deleted({ pod }), [], `${status} for ${since} s`);
    }
  }
});

test('planRolloutGroup() takes pods that are Ready without a time for serving, and goes on one by one (D-55)', () => {
  const status = { conditions: [{ type: 'Ready', status: 'True' }] };
  assert.deepEqual(deleted({ pod: () => ({ status }) }), ['ingester-zone-a-0']);
});

test('planRolloutGroup() takes pods that are Ready without a time for unavailable until they were watched for minReadySeconds (D-55)', () => {
  const status = { conditions: [{ type: 'Ready', status: 'True' }] };
  const scene = { pod: () => ({ status }), set: { minReadySeconds: 1 } };
  assert.deepEqual(deleted({ ...scene, watchedSince: monotonic(3_599_001) }), []);
  assert.deepEqual(deleted({ ...scene, watchedSince: monotonic(3_599_000) }), [
    'ingester-zone-a-0',
  ]);
});

test('[found R-6] planRolloutGroup() deletes no pod for a revision whose name is longer than a label may be, whatever its state', () => {
  const fits = 'r'.repeat(63);
  const pod = (): RawPodOptions => ({});
  assert.deepEqual(deleted({ set: { updateRevision: fits }, pod }), ['ingester-zone-a-0']);
  const crashing = unready(0, { phase: 'Pending', containerStatuses: [] });
  const states = [{}, crashing];
  for (const state of states) {
    const scene: Scene = {
      set: { updateRevision: `${fits}r` },
      pod: (zone) => (zone === 'a' ? state : {}),
    };
    const plan = planRolloutGroup(snapshotOf(scene), T0);
    assert.deepEqual(
      plan.decisions.map(({ kind, because }) => [kind, because.reason]),
      [
        ['hold', 'RevisionUnusable'],
        ['hold', 'ZoneOrder'],
        ['hold', 'ZoneOrder'],
      ],
    );
    assert.match(
      plan.decisions[0]?.because.message ?? '',
      /controller-revision-hash, which may have 63 characters, and has 64/,
    );
  }
});

test('planRolloutGroup() holds a set of more than 20,000 replicas before it looks at any slot (D-56)', () => {
  for (const replicas of [20_001, 1_000_000, 2_147_483_647]) {
    const plan = planRolloutGroup(snapshotOf({ set: { replicas }, pod: () => ({}) }), T0);
    assert.deepEqual(
      plan.decisions.map(({ kind, because }) => [kind, because.reason]),
      [['hold', 'SetTooLarge']],
    );
  }
});
