import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { instant } from '#base/units.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { budgetStatus } from './budget-status.ts';
import { parseBudget, parseBudgetPod } from './parse-views.ts';
import { planBudget } from './plan-budget.ts';
import type { BudgetPod, BudgetView } from './views.ts';

const NOW = instant(Date.parse('2026-01-01T00:10:00Z'));

function metadata(name: string, more: JsonObject = {}): KubernetesObject['metadata'] {
  return { name, namespace: 'demo', uid: `uid-${name}`, resourceVersion: '1', ...more };
}

function pod(name: string, more: { isReady?: boolean; owner?: string; meta?: JsonObject } = {}) {
  const { isReady = true, owner = 'web', meta = {} } = more;
  const reference = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: owner, uid: owner };
  const ownerReferences = owner === '' ? [] : [{ ...reference, controller: true }];
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
  return parseBudgetPod({
    metadata: metadata(name, { labels: { app: 'web' }, ownerReferences, ...meta }),
    status: { conditions },
  });
}

function budget(spec: JsonObject, status: JsonObject = {}): BudgetView {
  return parseBudget({
    metadata: metadata('web', { generation: 3 }),
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
    status,
  });
}

const five = [0, 1, 2, 3, 4].map((ordinal) => pod(`web-${ordinal}`));
const oneUnready = [...five.slice(1), pod('web-0', { isReady: false })];
const oneLeaving = [
  ...five.slice(1),
  pod('web-0', { meta: { deletionTimestamp: '2026-01-01T00:09:59Z' } }),
];

interface Case {
  readonly budget: BudgetView;
  readonly pods: readonly BudgetPod[];
  /** healthy/expected, desired, allowed; or why it is unknown. */
  readonly counts: string;
  readonly notes?: readonly string[];
}

const cases: Readonly<Record<string, Case>> = {
  'allows what maxUnavailable says of the wanted replicas': {
    budget: budget({ maxUnavailable: 1 }),
    pods: five,
    counts: '5/5, wants 4, allows 1',
  },
  'rounds a percentage of maxUnavailable up': {
    budget: budget({ maxUnavailable: '50%' }),
    pods: five,
    counts: '5/5, wants 2, allows 3',
  },
  'rounds a percentage of minAvailable up': {
    budget: budget({ minAvailable: '50%' }),
    pods: five,
    counts: '5/5, wants 3, allows 2',
  },
  'expects the pods that there are for an integer minAvailable': {
    budget: budget({ minAvailable: 2 }),
    pods: five.slice(0, 3),
    counts: '3/3, wants 2, allows 1',
  },
  'counts the wanted replicas, not the pods that there are': {
    budget: budget({ maxUnavailable: 1 }),
    pods: five.slice(0, 3),
    counts: '3/5, wants 4, allows 0',
  },
  'counts no pod that is not ready': {
    budget: budget({ maxUnavailable: 1 }),
    pods: oneUnready,
    counts: '4/5, wants 4, allows 0',
  },
  'counts no pod that is leaving': {
    budget: budget({ maxUnavailable: 1 }),
    pods: oneLeaving,
    counts: '4/5, wants 4, allows 0',
  },
  'counts no pod that was evicted a moment ago': {
    budget: budget({ maxUnavailable: 2 }, { disruptedPods: { 'web-0': '2026-01-01T00:09:00Z' } }),
    pods: five,
    counts: '4/5, wants 3, allows 1, open web-0',
  },
  'counts a pod again that was evicted more than two minutes ago and is still there': {
    budget: budget({ maxUnavailable: 2 }, { disruptedPods: { 'web-0': '2026-01-01T00:07:59Z' } }),
    pods: five,
    counts: '5/5, wants 3, allows 2',
    notes: ['NotDeleted'],
  },
  'forgets evicted pods that are gone': {
    budget: budget({ maxUnavailable: 2 }, { disruptedPods: { 'web-9': '2026-01-01T00:09:59Z' } }),
    pods: five,
    counts: '5/5, wants 3, allows 2',
  },
  'allows nothing where there are no pods': {
    budget: budget({ minAvailable: 0 }),
    pods: [],
    counts: '0/0, wants 0, allows 0',
    notes: ['NoPods'],
  },
  'leaves pods without a controller out and says so': {
    budget: budget({ maxUnavailable: 1 }),
    pods: [...five, pod('stray', { owner: '' })],
    counts: '6/5, wants 4, allows 2',
    notes: ['UnmanagedPods'],
  },
  'fails safe where a controller is unknown': {
    budget: budget({ maxUnavailable: 1 }),
    pods: [pod('db-0', { owner: 'db' })],
    counts: 'found no controllers for pod "db-0"',
    notes: ['CalculateExpectedPodCountFailed'],
  },
};

for (const [name, { budget: view, pods, counts, notes = [] }] of Object.entries(cases)) {
  test(`planBudget() ${name}`, () => {
    const replicas = new Map([['web', 5]]);
    const plan = planBudget({ budget: view, pods, replicas }, NOW);
    assert.equal(textOf(plan.status), counts);
    assert.deepEqual(
      plan.notes.map(({ reason }) => reason),
      notes,
    );
  });
}

function textOf(status: ReturnType<typeof planBudget>['status']): string {
  if (status.kind === 'failed') return status.message;
  const { currentHealthy, expectedPods, desiredHealthy, disruptionsAllowed } = status.counts;
  const open = [...status.disruptedPods.keys()];
  const tail = open.length === 0 ? '' : `, open ${open.join(' ')}`;
  return `${currentHealthy}/${expectedPods}, wants ${desiredHealthy}, allows ${disruptionsAllowed}${tail}`;
}

test('planBudget() asks to look again when the oldest open disruption runs out', () => {
  const disruptedPods = { 'web-0': '2026-01-01T00:09:00Z', 'web-1': '2026-01-01T00:09:30Z' };
  const view = budget({ maxUnavailable: 2 }, { disruptedPods });
  const plan = planBudget({ budget: view, pods: five, replicas: new Map([['web', 5]]) }, NOW);
  assert.equal(plan.requeueAfter, 60_001);
});

test('budgetStatus() keeps the time of a condition whose status stays', () => {
  const plan = planBudget(
    { budget: budget({ minAvailable: 1 }), pods: five, replicas: new Map() },
    NOW,
  ).status;
  const written = budgetStatus(budget({ minAvailable: 1 }), plan, NOW);
  assert.deepEqual(written, {
    currentHealthy: 5,
    desiredHealthy: 1,
    disruptionsAllowed: 4,
    expectedPods: 5,
    observedGeneration: 3,
    conditions: [
      {
        type: 'DisruptionAllowed',
        status: 'True',
        reason: 'SufficientPods',
        message: '',
        observedGeneration: 3,
        lastTransitionTime: '2026-01-01T00:10:00Z',
      },
    ],
  });
  const later = instant(NOW + 60_000);
  assert.equal(budgetStatus(budget({ minAvailable: 1 }, written), plan, later), undefined);
});

test('budgetStatus() of a failed count allows nothing and keeps the rest', () => {
  const old = { currentHealthy: 5, disruptionsAllowed: 1, observedGeneration: 2 };
  const view = budget({ maxUnavailable: 1 }, old);
  const status = budgetStatus(view, { kind: 'failed', message: 'no scale' }, NOW);
  assert.deepEqual(status, {
    currentHealthy: 5,
    disruptionsAllowed: 0,
    observedGeneration: 2,
    conditions: [
      {
        type: 'DisruptionAllowed',
        status: 'False',
        reason: 'SyncFailed',
        message: 'no scale',
        observedGeneration: 2,
        lastTransitionTime: '2026-01-01T00:10:00Z',
      },
    ],
  });
});
