import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { podView, statefulSetView } from '#support/objects/views.ts';
import { compilePattern } from '../pattern/compile-pattern.ts';
import { type KnownBudget, KnownBudgets } from '../spec/known-budgets.ts';
import { type ObservedBudget, planProblems } from './plan-problems.ts';

const selector = { matchLabels: { app: 'ingester' } };
const labels = { app: 'ingester' };

function known(spec: JsonObject, name = 'ingester', before?: JsonObject): KnownBudget {
  const { kind } = resourceTypes.zoneAwarePodDisruptionBudgets;
  const budgets = new KnownBudgets(compilePattern);
  const metadata = { namespace: 'test', name, uid: `${name}-uid` };
  if (before !== undefined) {
    budgets.put({ kind, metadata: { ...metadata, generation: 1 }, spec: before });
  }
  budgets.put({ kind, metadata: { ...metadata, generation: 2 }, spec });
  const found = budgets.get('test', name);
  assert.ok(found !== undefined);
  return found;
}

function zone(letter: string): SetSnapshot {
  const set = statefulSetView({ name: `ingester-zone-${letter}` });
  const pods = [0, 1].map((ordinal) =>
    podView({ name: `${set.name}-${ordinal}`, controllerUid: set.uid, labels }),
  );
  return { set, pods, orphans: [] };
}

function seen(budget: KnownBudget, ...zones: readonly string[]): ObservedBudget {
  const sets = zones.map(zone);
  return { budget, sets, pods: sets.flatMap(({ pods }) => pods), trouble: undefined };
}

function told(...budgets: readonly ObservedBudget[]): readonly string[] {
  return planProblems(budgets).map(
    ({ budget, why }) => `${budget.name} ${why.reason}: ${why.message}`,
  );
}

const regex = { podNamePartitionRegex: '[a-z-]+-zone-[a-z]-([0-9]+)' };

const cases: Record<
  string,
  { readonly given: readonly ObservedBudget[]; readonly want: readonly string[] }
> = {
  'nothing of a budget over two zones': { given: [seen(known({ selector }), 'a', 'b')], want: [] },
  'nothing of a budget that selects nothing, as what it is for may come later': {
    given: [seen(known({ selector }))],
    want: [],
  },
  'nothing of a limit of 0, which a user wants': {
    given: [seen(known({ selector, maxUnavailable: 0 }), 'a', 'b')],
    want: [],
  },
  'that a budget over a single zone lets nothing go': {
    given: [seen(known({ selector }), 'a')],
    want: [
      'ingester BudgetNeverMet: it selects the one StatefulSet ingester-zone-a, and without another zone no pod may be disrupted; give those of the other zones the labels of its selector',
    ],
  },
  'that a budget over pods alone lets nothing go': {
    given: [{ ...seen(known({ selector }), 'a', 'b'), sets: [] }],
    want: [
      'ingester BudgetNeverMet: it selects 4 pods and no StatefulSet by its own labels, so no pod may be disrupted; give the StatefulSets the labels of its selector',
    ],
  },
  'nothing of a regular expression that matches some name': {
    given: [seen(known({ selector, ...regex }), 'a', 'b')],
    want: [],
  },
  'that a regular expression matches no name': {
    given: [seen(known({ selector, podNamePartitionRegex: 'store-([0-9]+)' }), 'a', 'b')],
    want: [
      'ingester BudgetNeverMet: its podNamePartitionRegex "store-([0-9]+)" matches the name of no pod, such as ingester-zone-a-0, so none may be disrupted',
    ],
  },
  'that a budget cannot be read, and what counts meanwhile': {
    given: [seen(known({ selector, maxUnavailable: -1 }, 'ingester', { selector }), 'a', 'b')],
    want: [
      'ingester BudgetUnreadable: it cannot be read: invalid value: max unavailable must be 0 <= val, got -1; until it is corrected, what it said before counts',
    ],
  },
  'that a budget which never could be read keeps all that it may govern': {
    given: [seen(known({ selector, maxUnavailable: -1 }), 'a', 'b')],
    want: [
      'ingester BudgetUnreadable: it cannot be read: invalid value: max unavailable must be 0 <= val, got -1; until it is corrected, no pod that it may govern is disrupted',
    ],
  },
  'of both budgets over a pod that the other one selects it, too': {
    given: [seen(known({ selector }), 'a', 'b'), seen(known({ selector }, 'second'), 'a', 'b')],
    want: [
      'ingester BudgetsOverlap: it selects pod ingester-zone-a-0, and so does second: no pod of both is disrupted; let exactly one budget select each pod',
      'second BudgetsOverlap: it selects pod ingester-zone-a-0, and so does ingester: no pod of both is disrupted; let exactly one budget select each pod',
    ],
  },
  'that it is unknown what a budget has given away': {
    given: [{ ...seen(known({ selector }), 'a', 'b'), trouble: 'there is no ConfigMap x/y' }],
    want: [
      'ingester BudgetLedgerUnknown: it is unknown which disruptions it has granted: there is no ConfigMap x/y',
    ],
  },
};

for (const [fact, { given, want }] of Object.entries(cases)) {
  test(`planProblems() tells ${fact}`, () => {
    assert.deepEqual(told(...given), want);
  });
}
