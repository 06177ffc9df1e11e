import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, minutes, seconds } from '#base/units.ts';
import { heldIn } from '#disruption/decision/decide.ts';
import type { BudgetBed } from '#support/budgets/budgeted-zones.ts';
import { labels, zoneBudgetBed } from '#support/budgets/zone-budgets.ts';
import { podView, T0 } from '#support/objects/views.ts';
import { formatZoneStatus, parseZoneStatus, type ZoneBudgetStatus } from '../status.ts';
import { planStatus } from './plan-status.ts';
import type { Shown } from './project-status.ts';

const nothing = parseZoneStatus({});

function shown(bed: BudgetBed): Shown {
  const standing = bed.standing();
  const moment = { now: bed.now };
  return { standing, held: heldIn(bed.ledger, standing, moment), moment, generation: 2 };
}

/** What is written in the place of nothing. */
function first(bed: BudgetBed): ZoneBudgetStatus {
  const { write } = planStatus(nothing, shown(bed));
  assert.ok(write !== undefined);
  return write;
}

function evict(bed: BudgetBed, name: string): void {
  const pod = { name, uid: `${name}-uid`, controllerUid: 'web-uid' };
  const { answers } = bed.decide({ requests: [{ pod, asking: { by: 'eviction' } }] });
  assert.deepEqual(answers, [{ kind: 'allowed', isRepeated: false }]);
}

test('planStatus() writes what is new, and nothing where it is there (K-15)', () => {
  const bed = zoneBudgetBed();
  const written = parseZoneStatus({ status: formatZoneStatus(first(bed)) });
  assert.deepEqual(planStatus(written, shown(bed)), { write: undefined, lookAgainAt: undefined });
  evict(bed, 'web-1');
  const { write } = planStatus(written, shown(bed));
  assert.deepEqual(Object.fromEntries(write?.disruptionsAllowed ?? []), { a: 0, b: 0, c: 0 });
  assert.equal(write?.observedGeneration, 2);
});

test('planStatus() looks again when the first eviction has not happened for 120 s (ZDB-14) [zau 53]', () => {
  const bed = zoneBudgetBed({ maxUnavailable: 2 });
  evict(bed, 'web-1');
  bed.now = after(T0, seconds(10));
  evict(bed, 'web-4');
  assert.equal(planStatus(nothing, shown(bed)).lookAgainAt, after(T0, minutes(2)));
  bed.now = after(T0, minutes(2));
  assert.equal(planStatus(nothing, shown(bed)).lookAgainAt, after(T0, seconds(130)));
});

test('planStatus() waits for no time where the pod that was given away is going', () => {
  const bed = zoneBudgetBed();
  evict(bed, 'web-1');
  bed.snapshot = zoneBudgetBed({ pods: { 1: { isTerminating: true } } }).snapshot;
  assert.equal(planStatus(nothing, shown(bed)).lookAgainAt, undefined);
});

test('planStatus() writes that nothing may go while that is unknown, once (W-09) [zau 60]', () => {
  const written = first(zoneBudgetBed());
  const others = [podView({ name: 'front-x', labels, controllerUid: 'replica-set' })];
  const { write } = planStatus(written, shown(zoneBudgetBed({ others })));
  assert.ok(write !== undefined);
  assert.deepEqual(formatZoneStatus(write), {
    ...formatZoneStatus(written),
    disruptionsAllowed: { a: 0, b: 0, c: 0 },
  });
  assert.equal(planStatus(write, shown(zoneBudgetBed({ others }))).write, undefined);
});

test('planStatus() writes that nothing may go where the spec cannot be read', () => {
  const { write, lookAgainAt } = planStatus(first(zoneBudgetBed()), undefined);
  assert.deepEqual(Object.fromEntries(write?.disruptionsAllowed ?? []), { a: 0, b: 0, c: 0 });
  assert.equal(lookAgainAt, undefined);
  assert.equal(planStatus(nothing, undefined).write, undefined);
});
