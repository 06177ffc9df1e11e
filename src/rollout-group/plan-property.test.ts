/** What holds of every plan of a group, whatever its pods look like. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Arbitrary,
  array,
  assert as assertProperty,
  boolean,
  constantFrom,
  nat,
  oneof,
  property,
  record,
} from 'fast-check';
import { seconds } from '#base/units.ts';
import { deepFreeze } from '#config/deep-freeze.ts';
import type { DeletePod } from '#control/decision/decision.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import { T0 } from '#support/objects/views.ts';
import { group, type PodState, zone } from '#support/rollouts/rollout-zones.ts';
import { planRolloutGroup } from './plan.ts';
import type { GroupSnapshot } from './snapshot.ts';

const states: readonly PodState[] = [
  'current',
  'old',
  'old',
  'old-unready',
  'old-stuck',
  'old-stuck',
  'old-stuck-by-time',
  'old-stuck-terminating',
  'old-terminating',
  'old-settling',
  'unready',
  'stuck',
  'out-of-reach',
  'terminating',
  'settling',
  'missing',
  'unlabelled',
  'unlabelled-stuck',
];

/** Whole zones of one kind are as frequent as mixed ones: most rules are about them. */
const podsOfZone = oneof(
  array(constantFrom(...states), { maxLength: 7 }),
  array(constantFrom<PodState>('old', 'old-stuck', 'old-stuck-by-time'), { maxLength: 7 }),
  array(constantFrom<PodState>('old-stuck', 'missing', 'stuck', 'unready'), { maxLength: 7 }),
  array(constantFrom<PodState>('current', 'old'), { maxLength: 7 }),
);

const zoneSpec = record({
  pods: podsOfZone,
  limit: constantFrom('1', '1', '2', '3', '5', '100%', 'unreadable'),
  isPaused: boolean(),
  isOrdered: boolean(),
  isDeleting: nat({ max: 9 }).map((at) => at === 0),
  isUnobserved: nat({ max: 9 }).map((at) => at === 0),
  surplus: nat({ max: 2 }),
  minReady: constantFrom(seconds(0), seconds(30)),
});

function zoneOf(
  letter: string,
  spec: typeof zoneSpec extends Arbitrary<infer T> ? T : never,
): SetSnapshot {
  const { pods, limit, isPaused, isOrdered, isDeleting, isUnobserved, surplus, minReady } = spec;
  return zone(letter, {
    pods,
    isDeleting,
    generation: isUnobserved ? 2 : 1,
    annotations: {
      'rollout-max-unavailable': limit,
      ...(isPaused && { 'grafana.com/rollout-paused': 'true' }),
    },
    spec: { isOrdered, minReady, replicas: Math.max(0, pods.length - surplus) },
    status: { currentRevision: 'prev-hash', replicas: pods.length },
  });
}

const snapshots = record({
  zones: array(zoneSpec, { maxLength: 4 }),
  arePausable: boolean(),
  leaving: array(nat({ max: 27 }), { maxLength: 3 }),
}).map(({ zones, arePausable, leaving }) => {
  const sets = zones.map((spec, index) =>
    zoneOf('abcd'.charAt(index), { ...spec, isPaused: spec.isPaused && arePausable }),
  );
  const names = sets.flatMap(({ pods }) => pods.map(({ name }) => name));
  const uids = leaving.flatMap((at) => (names[at] === undefined ? [] : [`${names[at]}-uid`]));
  const snapshot = group(sets, { leaving: new Set(uids) });
  return deepFreeze(snapshot);
});

function deletionsOf(snapshot: GroupSnapshot): readonly DeletePod[] {
  const { decisions } = planRolloutGroup(snapshot, T0);
  return decisions.filter((decision) => decision.kind === 'delete-pod');
}

function stuckOnes(deletions: readonly DeletePod[]): readonly DeletePod[] {
  return deletions.filter(({ because }) => because.reason === 'StuckPodReplaced');
}

function namesOf(deletions: readonly DeletePod[]): readonly string[] {
  return deletions.map(({ pod }) => pod.name);
}

const runs = { numRuns: 1_000 };

test('planRolloutGroup() throws never, and comes to the same for the same', () => {
  assertProperty(
    property(snapshots, (snapshot) => {
      assert.deepEqual(planRolloutGroup(snapshot, T0), planRolloutGroup(snapshot, T0));
    }),
    runs,
  );
});

test('planRolloutGroup() plans what is left of its deletions once any one of them counts as leaving (D-49)', () => {
  assertProperty(
    property(snapshots, (snapshot) => {
      const deletions = deletionsOf(snapshot);
      for (const sent of deletions) {
        const leaving = new Set([...snapshot.leaving, sent.pod.uid]);
        const rest = deletions.filter((deletion) => deletion !== sent);
        assert.deepEqual(namesOf(deletionsOf({ ...snapshot, leaving })), namesOf(rest));
      }
    }),
    runs,
  );
});

test('planRolloutGroup() replaces stuck pods of one zone at a time, none of which is Ready (D-48)', () => {
  assertProperty(
    property(snapshots, (snapshot) => {
      const stuck = stuckOnes(deletionsOf(snapshot));
      assert.ok(new Set(stuck.map(({ set }) => set.name)).size <= 1);
      const pods = snapshot.sets.flatMap((set) => set.pods);
      for (const { pod } of stuck) {
        assert.ok(pods.some(({ uid, unready }) => uid === pod.uid && unready !== undefined));
      }
    }),
    runs,
  );
});

test('planRolloutGroup() takes pods that serve only where no other zone lacks one (EXCL-2)', () => {
  assertProperty(
    property(snapshots, (snapshot) => {
      const plan = planRolloutGroup(snapshot, T0);
      const serving = deletionsOf(snapshot).filter(({ costs }) => costs === 'a-slot');
      for (const { set } of serving) {
        const others = plan.progress.filter((each) => each.set.name !== set.name);
        assert.deepEqual(
          others.filter(({ unavailable }) => unavailable > 0),
          [],
        );
      }
    }),
    runs,
  );
});
