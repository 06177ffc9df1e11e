import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { JsonObject } from '#base/json.ts';
import { mayOverlap } from '../spec/same-selectors.ts';
import { OverlapIndex } from './overlap-index.ts';
import { selectorOf, type ZoneBudgetView, zoneBudgetView } from './zone-budget-view.ts';

function budget(name: string, selector: JsonObject, namespace = 'demo'): ZoneBudgetView {
  const metadata = { namespace, name, uid: name, resourceVersion: '1' };
  return zoneBudgetView({ metadata, spec: { selector, maxUnavailable: 1 } });
}

function indexOf(budgets: readonly ZoneBudgetView[]): OverlapIndex {
  const index = new OverlapIndex();
  for (const each of budgets) index.add(each);
  return index;
}

const requirement = fc.record({
  key: fc.constantFrom('app', 'tier', 'zone'),
  operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist'),
  values: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }),
});

/** `Exists` and its opposite have no values. */
const selectors = fc.array(
  fc.array(requirement, { maxLength: 3 }).map((all) => ({
    matchExpressions: all.map(({ key, operator, values }) =>
      operator.endsWith('In') ? { key, operator, values } : { key, operator },
    ),
  })),
  { maxLength: 12 },
);

test('OverlapIndex finds all that may overlap, and none that was taken out', () => {
  fc.assert(
    fc.property(selectors, fc.nat({ max: 12 }), (all, left) => {
      const budgets = all.map((selector, at) => budget(`b-${at}`, selector));
      const index = indexOf(budgets);
      for (const each of budgets.slice(0, left)) index.remove(each);
      const there = budgets.slice(left);
      for (const one of budgets) {
        const found = new Set(index.near(one));
        for (const each of found) assert.ok(there.includes(each));
        const wanted = there.filter((each) => mayOverlap(selectorOf(each), selectorOf(one)));
        for (const each of wanted) assert.ok(found.has(each), `${one.name} and ${each.name}`);
      }
    }),
  );
});

test('OverlapIndex finds one of 10,000 budgets that want another value of a label each', () => {
  const budgets = Array.from({ length: 10_000 }, (_, at) =>
    budget(`b-${at}`, { matchLabels: { team: 'x', app: `app-${at}` } }),
  );
  const index = indexOf(budgets);
  for (const each of budgets) assert.deepEqual([...index.near(each)], [each]);
});

test('OverlapIndex finds nothing of another namespace, and nothing for what selects no pod', () => {
  const index = indexOf([budget('all', {}), budget('web', { matchLabels: { app: 'web' } })]);
  assert.deepEqual([...index.near(budget('all', {}, 'other'))], []);
  const none = zoneBudgetView({ metadata: { namespace: 'demo', name: 'none' } });
  assert.deepEqual([...index.near(none)], []);
});
