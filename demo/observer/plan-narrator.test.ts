import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis } from '#base/units.ts';
import type { Decision, Plan } from '#control/decision/decision.ts';
import type { Reason } from '#control/decision/reasons.ts';
import { type Fact, factText, operatorUser } from './facts.ts';
import { PlanNarrator } from './plan-narrator.ts';

const set = { namespace: 'demo', name: 'a', uid: 'u-a' };

function plan(...decisions: readonly Decision[]): Plan {
  const requeue = { kind: 'await-change' } as const;
  return { decisions, requeue, failure: undefined, progress: [] };
}

function hold(reason: Reason, message: string): Decision {
  return { kind: 'hold', set, because: { reason, message } };
}

function deletion(name: string): Decision {
  const pod = { namespace: 'demo', name, uid: name, resourceVersion: '1', revision: 'old' };
  const because = { reason: 'PodOutdated', message: `${name} is old` } as const;
  return { kind: 'delete-pod', set, pod, costs: 'a-slot', maxUnavailable: 2, because };
}

function deleted(pod: string, by = operatorUser): Fact {
  return { at: millis(0), zone: 'a', kind: 'deleted', pod, by, because: undefined };
}

function narrator(waitsOf: 'group' | 'set' = 'group'): {
  readonly told: string[];
  readonly it: PlanNarrator;
} {
  const told: string[] = [];
  const onFact = (fact: Fact): number => told.push(factText(fact));
  return { told, it: new PlanNarrator({ onFact, zoneOf: (name) => name, waitsOf }) };
}

test('PlanNarrator gives a deletion the reason of its plan, and keeps what follows in order', () => {
  const { told, it } = narrator();
  it.happened(deleted('a-0'));
  it.happened({ at: millis(1), zone: 'a', kind: 'ready', pod: 'a-1', revision: 'r2' });
  assert.deepEqual(told, []);
  it.planned(plan(deletion('a-0')), millis(2));
  assert.deepEqual(told, [
    'a-0  deleted by the operator: a-0 is old (PodOutdated)',
    'a-1  ready on r2',
  ]);
  assert.equal(it.reason?.message, 'a-0 is old');
});

test('PlanNarrator tells a deletion by another client at once', () => {
  const { told, it } = narrator();
  it.happened(deleted('a-0', 'system:admin'));
  assert.deepEqual(told, ['a-0  deleted by system:admin']);
});

test('PlanNarrator tells what never got a plan when it is flushed', () => {
  const { told, it } = narrator();
  it.happened(deleted('a-0'));
  it.flush();
  assert.deepEqual(told, ['a-0  deleted by the operator']);
});

const holds: Record<string, { plans: readonly Plan[]; want: readonly string[] }> = {
  'tells a hold once while its reason stays': {
    plans: [
      plan(hold('ZoneNotReady', 'a-0 (pending)')),
      plan(hold('ZoneNotReady', 'a-0 (not ready)')),
    ],
    want: ['waits: a-0 (pending) (ZoneNotReady)'],
  },
  'tells a hold again when its reason changes': {
    plans: [plan(hold('ZoneNotReady', 'a-0')), plan(hold('MaxUnavailableReached', 'a-0'))],
    want: ['waits: a-0 (ZoneNotReady)', 'waits: a-0 (MaxUnavailableReached)'],
  },
  'tells a hold again when only broken pods are left': {
    plans: [
      plan(hold('ZoneNotReady', 'a-0 (pending), a-1 (ImagePullBackOff)')),
      plan(hold('ZoneNotReady', 'a-0 (ImagePullBackOff), a-1 (ImagePullBackOff)')),
    ],
    want: [
      'waits: a-0 (pending), a-1 (ImagePullBackOff) (ZoneNotReady)',
      'waits: a-0 (ImagePullBackOff), a-1 (ImagePullBackOff) (ZoneNotReady)',
    ],
  },
  'keeps silent about holds while pods go': {
    plans: [
      plan(hold('ZoneNotReady', 'a-0')),
      plan(deletion('a-1'), hold('ZoneOrder', 'b waits')),
      plan(hold('ZoneNotReady', 'a-1')),
    ],
    want: ['waits: a-0 (ZoneNotReady)'],
  },
  'tells a hold that comes back after all was well': {
    plans: [plan(hold('ZoneNotReady', 'a-0')), plan(), plan(hold('ZoneNotReady', 'a-0'))],
    want: ['waits: a-0 (ZoneNotReady)', 'waits: a-0 (ZoneNotReady)'],
  },
};

for (const [fact, { plans, want }] of Object.entries(holds)) {
  test(`PlanNarrator ${fact}`, () => {
    const { told, it } = narrator();
    for (const each of plans) it.planned(each, millis(0));
    assert.deepEqual(told, want);
  });
}

test('PlanNarrator gives a scaling the reason of its plan', () => {
  const { told, it } = narrator('set');
  const by = operatorUser;
  const fact = { kind: 'scaled', set: 'a', from: 6, to: 4, by, because: undefined } as const;
  it.happened({ at: millis(0), zone: 'a', ...fact });
  assert.deepEqual(told, []);
  const because = { reason: 'ScaledToReference', message: '4 are asked for' } as const;
  const scale = { kind: 'scale', set, from: 6, to: 4, takes: 2, revision: '1', because } as const;
  it.planned(plan(scale), millis(1));
  assert.deepEqual(told, [
    'from 6 to 4 replicas, by the operator: 4 are asked for (ScaledToReference)',
  ]);
});

test('PlanNarrator tells the first wait of each set, again for another pod or reason', () => {
  const { told, it } = narrator('set');
  const delayed = (pod: string, left: string): Decision =>
    hold('DownscaleDelayed', `Pod "${pod}" may go in ${left}`);
  it.planned(plan(delayed('a-5', '4s'), hold('ZoneOrder', 'b first')), millis(0));
  it.planned(plan(delayed('a-5', '3s')), millis(1));
  it.planned(plan(delayed('a-4', '2s')), millis(2));
  it.planned(plan(), millis(3));
  it.planned(plan(hold('ZoneNotReady', 'a-4 goes')), millis(4));
  it.planned(plan(delayed('a-4', '1s')), millis(5));
  assert.deepEqual(told, [
    'waits: Pod "a-5" may go in 4s (DownscaleDelayed)',
    'waits: Pod "a-4" may go in 2s (DownscaleDelayed)',
    'waits: Pod "a-4" may go in 1s (DownscaleDelayed)',
  ]);
});
