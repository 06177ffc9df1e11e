import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, monotonic, seconds } from '#base/units.ts';
import { T0 } from '#support/objects/views.ts';
import type { Plan, Requeue } from '../decision/decision.ts';
import type { GroupCapability } from './group-capability.ts';
import { type GroupMoment, noConflicts } from './group-moment.ts';
import { idlePlan, planGroup, sooner } from './group-plan.ts';

const never: Requeue = { kind: 'await-change' };
const early: Requeue = { kind: 'at', at: after(T0, seconds(1)) };
const late: Requeue = { kind: 'at', at: after(T0, seconds(2)) };

const pairs: Readonly<Record<string, readonly [one: Requeue, other: Requeue, sooner: Requeue]>> = {
  'the earlier of two looks': [early, late, early],
  'the earlier of two looks, in whatever order they come': [late, early, early],
  'the only look where the other waits for a change': [never, late, late],
  'the only look where one waits for a change': [late, never, late],
  'no look where both wait for a change': [never, never, never],
};

for (const [fact, [one, other, expected]] of Object.entries(pairs)) {
  test(`sooner() is ${fact}`, () => {
    assert.deepEqual(sooner(one, other), expected);
  });
}

const proof = { pods: undefined, statefulSets: undefined, budgets: { kind: 'unproven' } } as const;
const moment: GroupMoment = {
  key: 'test/ingester',
  now: T0,
  monotonic: monotonic(0),
  sets: [],
  leaving: new Set(),
  conflicts: noConflicts,
  proof,
};

function capability(rest: Partial<Plan>, endsPass = false): GroupCapability {
  return {
    name: 'a-capability',
    plan: () => ({ ...idlePlan, ...rest }),
    endsPass: () => endsPass,
  };
}

test('planGroup() looks again at the earliest time for which a capability asks', () => {
  const { whole } = planGroup(moment, [
    capability({ requeue: late }),
    capability({}),
    capability({ requeue: early }),
  ]);
  assert.deepEqual(whole.requeue, early);
});

test('planGroup() asks no capability behind one that changes what the others would have to see (D-18)', () => {
  const { parts, whole } = planGroup(moment, [
    capability({ requeue: late }, true),
    capability({ requeue: early }),
  ]);
  assert.equal(parts.length, 1);
  assert.deepEqual(whole.requeue, late);
});

test('planGroup() says that the pass failed if any capability does', () => {
  const { whole } = planGroup(moment, [capability({ failure: 'no' }), capability({})]);
  assert.equal(whole.failure, 'no');
});
