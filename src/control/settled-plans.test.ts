import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant } from '#base/units.ts';
import { podView, statefulSetView } from '#testing/views.ts';
import type { Decision, Plan } from './decision.ts';
import type { SetSnapshot } from './group-sets.ts';
import { because, setRef } from './refs.ts';
import { SettledPlans } from './settled-plans.ts';

const KEY = 'test/ingester';
const zoneA = snapshot('ingester-zone-a');
const zoneB = snapshot('ingester-zone-b');
const sets = [zoneA, zoneB];

const nothingToDo: Plan = {
  decisions: [],
  requeue: { kind: 'await-change' },
  outcome: { kind: 'succeeded' },
  progress: [],
};

function snapshot(name: string): SetSnapshot {
  return { set: statefulSetView({ name }), pods: [podView({ name: `${name}-0` })], orphans: [] };
}

function decision(kind: 'hold' | 'warn'): Decision {
  return { kind, set: setRef(zoneA.set), because: because('ZoneOrder', 'a test wants it') };
}

function kept(plan: Plan): SettledPlans {
  const plans = new SettledPlans();
  plans.keep(KEY, sets, plan);
  return plans;
}

test('SettledPlans finds the plan of the very same sets, in another list of them too', () => {
  const plans = kept(nothingToDo);
  assert.equal(plans.find(KEY, sets), nothingToDo);
  assert.equal(plans.find(KEY, [{ ...zoneA }, { ...zoneB }]), nothingToDo);
  assert.equal(plans.find('test/store-gateway', sets), undefined);
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

for (const [what, observed] of Object.entries(others)) {
  test(`SettledPlans finds none for ${what}`, () => {
    assert.equal(kept(nothingToDo).find(KEY, observed), undefined);
  });
}

const unsettled: Readonly<Record<string, Plan>> = {
  'that waits for something': { ...nothingToDo, decisions: [decision('hold')] },
  'whose time will come': { ...nothingToDo, requeue: { kind: 'at', at: instant(1) } },
  'that failed': { ...nothingToDo, outcome: { kind: 'failed', message: 'a test wants it' } },
};

for (const [what, plan] of Object.entries(unsettled)) {
  test(`SettledPlans remembers no plan ${what}, nor the one before it`, () => {
    const plans = kept(nothingToDo);
    plans.keep(KEY, sets, plan);
    assert.equal(plans.find(KEY, sets), undefined);
  });
}

test('SettledPlans remembers a plan that only warns', () => {
  const plan = { ...nothingToDo, decisions: [decision('warn')] };
  assert.equal(kept(plan).find(KEY, sets), plan);
});

test('SettledPlans forgets a group that is gone', () => {
  const plans = kept(nothingToDo);
  plans.forget(KEY);
  assert.equal(plans.find(KEY, sets), undefined);
});
