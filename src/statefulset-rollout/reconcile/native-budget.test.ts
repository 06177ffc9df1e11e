import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { parseNativeBudget, selectingBudgets } from './native-budget.ts';

function budget(name: string, spec: JsonObject, status: JsonObject = {}): JsonObject {
  return { metadata: { namespace: 'ns', name, uid: `${name}-uid`, generation: 2 }, spec, status };
}

test('parseNativeBudget() knows what is allowed only by a status that is about the budget as it is [T-36]', () => {
  const spec = { maxUnavailable: '10%', selector: {} };
  const status = { observedGeneration: 2, disruptionsAllowed: 3 };
  assert.equal(parseNativeBudget(budget('a', spec, status)).disruptionsAllowed, 3);
  const old = parseNativeBudget(budget('a', spec, { ...status, observedGeneration: 1 }));
  assert.equal(old.disruptionsAllowed, undefined);
  assert.equal(old.maxUnavailable, '10%');
  assert.equal(parseNativeBudget(budget('a', spec)).disruptionsAllowed, undefined);
});

describe('selectingBudgets()', () => {
  const labels = { app: 'web', tier: 'db' };
  const cases: Record<string, { readonly spec: JsonObject; readonly want: number }> = {
    'finds one by its labels': { spec: { selector: { matchLabels: { app: 'web' } } }, want: 1 },
    'finds one whose selector is empty: it selects all': { spec: { selector: {} }, want: 1 },
    'does not find one without a selector: it selects none': { spec: {}, want: 0 },
    'does not find one whose selector is null': { spec: { selector: null }, want: 0 },
    'does not find one of other labels': {
      spec: { selector: { matchLabels: { app: 'api' } } },
      want: 0,
    },
    'finds one by an expression': {
      spec: { selector: { matchExpressions: [{ key: 'tier', operator: 'In', values: ['db'] }] } },
      want: 1,
    },
  };
  for (const [fact, { spec, want }] of Object.entries(cases)) {
    test(`selectingBudgets() ${fact}`, () => {
      assert.equal(selectingBudgets([parseNativeBudget(budget('a', spec))], labels).length, want);
    });
  }

  test('selectingBudgets() has them by name', () => {
    const all = ['b', 'a'].map((name) => parseNativeBudget(budget(name, { selector: {} })));
    assert.deepEqual(
      selectingBudgets(all, labels).map(({ name }) => name),
      ['a', 'b'],
    );
  });
});
