import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, minutes, seconds } from '#base/units.ts';
import { budget, zones } from '#support/budgets/budgeted-zones.ts';
import { T0 } from '#support/objects/views.ts';
import { standingOf } from './standing.ts';

test('standingOf() says when time changes it first', () => {
  const spec = { minReady: minutes(5) };
  const readySince = (ago: number): { readonly readySince: typeof T0 } => ({
    readySince: after(T0, seconds(-ago)),
  });
  const snapshot = zones({
    a: { spec, pods: { 0: readySince(60) } },
    b: { spec, pods: { 0: readySince(120), 1: readySince(90) } },
  });
  assert.equal(standingOf(budget(), snapshot, T0).changesAt, after(T0, minutes(3)));
});
