import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, instant, monotonic, seconds } from '#base/units.ts';
import { podView, statefulSetView, T0 } from '#support/objects/views.ts';
import type { Decision, Plan } from '../decision/decision.ts';
import { because, podRef, setRef } from '../decision/refs.ts';
import type { SetSnapshot } from '../watch/group-sets.ts';
import { type GroupMoment, noConflicts } from './group-moment.ts';
import { idlePlan } from './group-plan.ts';
import { PlanMemory } from './plan-memory.ts';

const zoneA = snapshot('ingester-zone-a');
const zoneB = snapshot('ingester-zone-b');

function snapshot(name: string): SetSnapshot {
  const pods = [0, 1, 2].map((ordinal) =>
    podView({ name: `${name}-${ordinal}`, uid: `${name}-${ordinal}` }),
  );
  return { set: statefulSetView({ name }), pods, orphans: [] };
}

function moment(rest: Partial<GroupMoment> = {}): GroupMoment {
  const proof = {
    pods: undefined,
    statefulSets: undefined,
    budgets: { kind: 'unproven' },
  } as const;
  return {
    key: 'test/ingester',
    now: T0,
    monotonic: monotonic(0),
    sets: [zoneA, zoneB],
    leaving: new Set(),
    conflicts: noConflicts,
    proof,
    ...rest,
  };
}

function deletion(ordinal: number): Decision {
  const pod = zoneA.pods[ordinal];
  assert.ok(pod !== undefined);
  const why = because('PodOutdated', 'a test wants it');
  return {
    kind: 'delete-pod',
    set: setRef(zoneA.set),
    pod: podRef(pod),
    costs: 'a-slot',
    maxUnavailable: 2,
    because: why,
  };
}

const hold: Decision = {
  kind: 'hold',
  set: setRef(zoneB.set),
  because: because('ZoneOrder', 'a test wants it'),
};
const rolling: Plan = { ...idlePlan, decisions: [deletion(0), deletion(1), hold] };

function kept(plan: Plan, made = moment()): PlanMemory {
  const memory = new PlanMemory();
  memory.keep(made, plan);
  return memory;
}

test('PlanMemory finds the plan of the very same objects, in another list of them too', () => {
  const memory = kept(rolling);
  assert.equal(memory.find(moment()), rolling);
  assert.equal(memory.find(moment({ sets: [{ ...zoneA }, { ...zoneB }] })), rolling);
  assert.equal(memory.find(moment({ key: 'test/store-gateway' })), undefined);
});

const others: Readonly<Record<string, readonly SetSnapshot[]>> = {
  'another state of a set': [zoneA, { ...zoneB, set: statefulSetView({ ...zoneB.set }) }],
  'other pods': [zoneA, { ...zoneB, pods: [...zoneB.pods] }],
  'a pod less': [zoneA, { ...zoneB, pods: [] }],
  'an orphan more': [{ ...zoneA, orphans: ['ingester-zone-a-0'] }, zoneB],
  'a set less': [zoneA],
  'a set more': [zoneA, zoneB, snapshot('ingester-zone-c')],
  'the sets in another order': [zoneB, zoneA],
};

for (const [what, sets] of Object.entries(others)) {
  test(`PlanMemory finds none for ${what}`, () => {
    assert.equal(kept(rolling).find(moment({ sets })), undefined);
  });
}

test('PlanMemory has the rest of a plan as the plan once a pod that it takes is leaving (D-49)', () => {
  const leaving = new Set(['ingester-zone-a-1']);
  const found = kept(rolling).find(moment({ leaving }));
  assert.deepEqual(found?.decisions, [deletion(0), hold]);
});

const otherLeavings: Readonly<Record<string, readonly string[]>> = {
  'a pod that the plan does not take is leaving': ['ingester-zone-b-0'],
  'such a pod is leaving besides one that it takes': ['ingester-zone-a-0', 'ingester-zone-b-0'],
  'all pods that it takes are leaving, as then there is something to wait for': [
    'ingester-zone-a-0',
    'ingester-zone-a-1',
  ],
};

for (const [what, uids] of Object.entries(otherLeavings)) {
  test(`PlanMemory finds none when ${what}`, () => {
    assert.equal(kept(rolling).find(moment({ leaving: new Set(uids) })), undefined);
  });
}

test('PlanMemory finds none when a pod that was leaving is not any more', () => {
  const memory = kept(rolling, moment({ leaving: new Set(['ingester-zone-a-2']) }));
  assert.equal(memory.find(moment()), undefined);
});

const timed: Plan = { ...rolling, requeue: { kind: 'at', at: after(T0, seconds(10)) } };
const times: Readonly<
  Record<string, { readonly at: Partial<GroupMoment>; readonly isFound: boolean }>
> = {
  'before the time for which the plan asked': {
    at: { now: after(T0, seconds(9)), monotonic: monotonic(9_000) },
    isFound: true,
  },
  'at the time for which the plan asked': {
    at: { now: after(T0, seconds(10)), monotonic: monotonic(10_000) },
    isFound: false,
  },
  'when that time has passed, whatever a wall clock that runs slowly says': {
    at: { now: after(T0, seconds(1)), monotonic: monotonic(10_000) },
    isFound: false,
  },
  'when the wall clock was set back': {
    at: { now: instant(T0 - 1), monotonic: monotonic(1) },
    isFound: false,
  },
};

for (const [when, { at, isFound }] of Object.entries(times)) {
  test(`PlanMemory finds ${isFound ? 'the plan' : 'none'} ${when}`, () => {
    assert.equal(kept(timed).find(moment(at)), isFound ? timed : undefined);
  });
}

test('PlanMemory forgets a group that is gone', () => {
  const memory = kept(rolling);
  memory.forget('test/ingester');
  assert.equal(memory.find(moment()), undefined);
});
