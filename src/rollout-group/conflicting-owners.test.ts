import assert from 'node:assert/strict';
import { test } from 'node:test';
import { T0 } from '#support/objects/views.ts';
import { group, line, zone } from '#support/rollouts/rollout-zones.ts';
import { planRolloutGroup } from './plan.ts';
import type { GroupSnapshot } from './snapshot.ts';

const contestedB = { conflicts: new Map([['ingester-zone-b-uid', ['PhasedRollout x']]]) };

const prev = { currentRevision: 'prev-hash' };
const old = { status: prev, pods: ['old', 'old', 'old'] } as const;

const cases: Record<string, { given: GroupSnapshot; want: readonly string[] }> = {
  'leaves a contested zone alone, and goes on with the next': {
    given: group([zone('a'), zone('b', old), zone('c', old)], contestedB),
    want: ['hold b ConflictingOwners', 'delete c-0 PodOutdated', 'delete c-1 PodOutdated'],
  },
  'says so of a contested zone in which nothing is to be done': {
    given: group([zone('a'), zone('b')], contestedB),
    want: ['hold b ConflictingOwners'],
  },
  'does not promote a contested zone': {
    given: group([zone('b', { status: prev })], contestedB),
    want: ['hold b ConflictingOwners'],
  },
  'replaces no stuck pod of a contested zone': {
    given: group([zone('b', { status: prev, pods: ['old-stuck', 'old', 'old'] })], contestedB),
    want: ['hold b ConflictingOwners', 'hold b ZoneNotReady'],
  },
  'holds the others while a contested zone lacks a pod': {
    given: group([zone('a', old), zone('b', { pods: ['unready'] })], contestedB),
    want: ['hold b ConflictingOwners', 'hold b ZoneNotReady', 'hold a ZoneOrder'],
  },
  'says so while another zone has its turn': {
    given: group([zone('a', old), zone('b', old)], contestedB),
    want: ['hold b ConflictingOwners', 'delete a-0 PodOutdated', 'delete a-1 PodOutdated'],
  },
};

for (const [what, { given, want }] of Object.entries(cases)) {
  test(`planRolloutGroup() ${what} (D-63)`, () => {
    assert.deepEqual(planRolloutGroup(given, T0).decisions.map(line), want);
  });
}

test('planRolloutGroup() names what else would move the set', () => {
  const [decision] = planRolloutGroup(group([zone('b')], contestedB), T0).decisions;
  assert.equal(
    decision?.because.message,
    'ingester-zone-b is left alone, as PhasedRollout x would move it, too',
  );
});
