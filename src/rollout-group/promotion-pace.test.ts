import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant, monotonic } from '#base/units.ts';
import type { Decision, Plan } from '#control/decision/decision.ts';
import { idlePlan } from '#control/plan/group-plan.ts';
import { T0 } from '#support/objects/views.ts';
import { PromotionPaces } from './promotion-pace.ts';

const set = { namespace: 'test', name: 'ingester-zone-a', uid: 'a-uid' };

function promotion(to = 'new'): Extract<Decision, { kind: 'set-current-revision' }> {
  const why = { reason: 'ZoneUpdated', message: 'it is' } as const;
  return { kind: 'set-current-revision', set, from: 'old', to, because: why };
}

function planOf(...decisions: readonly Decision[]): Plan {
  return { ...idlePlan, decisions };
}

function at(time: number): {
  readonly now: ReturnType<typeof instant>;
  readonly monotonic: ReturnType<typeof monotonic>;
} {
  return { now: instant(T0 + time), monotonic: monotonic(time) };
}

function contested(): PromotionPaces {
  const paces = new PromotionPaces();
  for (let turn = 0; turn < 3; turn += 1) paces.written(promotion(), at(0));
  return paces;
}

test('PromotionPaces.held() lets a revision be written twice more at once', () => {
  const paces = new PromotionPaces();
  for (let turn = 0; turn < 2; turn += 1) paces.written(promotion(), at(0));
  const plan = planOf(promotion());
  assert.equal(paces.held(plan, at(0)), plan);
});

test('PromotionPaces.held() holds a revision that a user changes back, says so, and looks again when it is over', () => {
  const paces = contested();
  const warning: Decision = { kind: 'warn', set, because: { reason: 'MisplacedKey', message: '' } };
  const until = instant(T0 + 10_000);
  const because = {
    reason: 'RevisionContested',
    message:
      'status.currentRevision of ingester-zone-a was set to new 3 times, and another client changes it back to old; ' +
      'it is written again at 2026-01-01T00:00:10Z',
  } as const;
  assert.deepEqual(paces.held(planOf(promotion(), warning), at(4_000)), {
    ...planOf({ kind: 'hold', set, until, because }, warning),
    requeue: { kind: 'at', at: until },
  });
  const plan = planOf(promotion());
  assert.equal(paces.held(plan, at(10_000)), plan);
});

test('PromotionPaces.held() lets another revision be written at once', () => {
  const plan = planOf(promotion('newer'));
  assert.equal(contested().held(plan, at(0)), plan);
});
