import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '#base/json.ts';
import type { SetSnapshot } from '#control/group-sets.ts';
import { statefulSetView } from '#testing/views.ts';
import { type BudgetView, budgetOver, parseBudget } from './foreign-budget.ts';

const set = statefulSetView({
  namespace: 'test',
  name: 'ingester-zone-a',
  spec: { templateLabels: { app: 'ingester' } },
});
const sets: readonly SetSnapshot[] = [{ set, pods: [], orphans: [] }];

function budget(selector: JsonValue, namespace = 'test'): BudgetView {
  const metadata = { namespace, name: 'ingester-budget', uid: 'u', resourceVersion: '7' };
  return parseBudget({ metadata, spec: { selector } });
}

function reasonOf(budgets: readonly BudgetView[], hasSynced = true): string | undefined {
  const lister = { size: budgets.length, get: () => undefined, list: () => budgets, by: () => [] };
  return budgetOver(sets, { hasSynced, lister });
}

const ingester = { matchLabels: { app: 'ingester' } };

const cases: Record<
  string,
  { readonly budgets: readonly BudgetView[]; readonly governs: boolean }
> = {
  'a cluster without budgets': { budgets: [], governs: false },
  'a budget that selects the pods': { budgets: [budget(ingester)], governs: true },
  'a budget that selects all pods': { budgets: [budget({})], governs: true },
  'a budget whose selector cannot be understood': {
    budgets: [budget({ matchExpressions: [{ key: 'app', operator: 'Like' }] })],
    governs: true,
  },
  'a budget behind one that selects other pods': {
    budgets: [budget({ matchLabels: { app: 'other' } }), budget(ingester)],
    governs: true,
  },
  'a budget that selects other pods': {
    budgets: [budget({ matchLabels: { app: 'other' } })],
    governs: false,
  },
  'a budget of another namespace': { budgets: [budget(ingester, 'other')], governs: false },
};

for (const [what, { budgets, governs }] of Object.entries(cases)) {
  test(`budgetOver() ${governs ? 'forbids' : 'permits'} the rollout under ${what} (D-13)`, () => {
    assert.equal(reasonOf(budgets) !== undefined, governs);
  });
}

test('budgetOver() forbids the rollout while budgets cannot be read (D-13)', () => {
  assert.equal(
    reasonOf([], false),
    'ZoneAwarePodDisruptionBudgets cannot be read yet, and one might govern this group; see the log for the reason',
  );
});

test('budgetOver() names the budget and the set', () => {
  assert.equal(
    reasonOf([budget(ingester)]),
    'ZoneAwarePodDisruptionBudget "ingester-budget" selects the pods of StatefulSet "ingester-zone-a", ' +
      'and this version does not have that capability; the group is not rolled without it',
  );
});
