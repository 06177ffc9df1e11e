import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { overIngester } from '#support/budgets/budget-server.ts';
import { T0 } from '#support/objects/views.ts';
import { budgetView } from './budget-view.ts';

const metadata = {
  namespace: 'test',
  name: 'ingester',
  uid: 'a-uid',
  resourceVersion: '7',
  generation: 3,
  creationTimestamp: '2026-01-01T00:00:00Z',
};

function stored(): JsonObject {
  return {
    apiVersion: 'rollout-operator.grafana.com/v1',
    kind: 'ZoneAwarePodDisruptionBudget',
    metadata: {
      ...metadata,
      labels: { name: 'ingester' },
      managedFields: [{ manager: 'kubectl' }],
    },
    spec: structuredClone(overIngester),
    status: {},
  };
}

test('budgetView() keeps what names a budget and what its parser reads, and nothing else', () => {
  assert.deepEqual(budgetView(stored()), {
    namespace: 'test',
    name: 'ingester',
    uid: 'a-uid',
    resourceVersion: '7',
    createdAt: T0,
    object: {
      kind: 'ZoneAwarePodDisruptionBudget',
      metadata: { namespace: 'test', name: 'ingester', uid: 'a-uid', generation: 3 },
      spec: overIngester,
    },
  });
});

test('budgetView() is frozen wholly', () => {
  const { object } = budgetView(stored());
  const spec = object['spec'];
  assert.deepEqual(
    [object, object['metadata'], spec].map((value) => Object.isFrozen(value)),
    [true, true, true],
  );
});

test('budgetView() knows the kind of an item of a list that does not say it', () => {
  const { kind: _, ...item } = stored();
  assert.equal(budgetView(item).object['kind'], 'ZoneAwarePodDisruptionBudget');
  assert.equal(budgetView({ ...item, kind: 'Other' }).object['kind'], 'Other');
});

test('budgetView() does without what is missing, so that the parser can say so', () => {
  assert.deepEqual(budgetView({ metadata: { name: 'ingester', uid: 'a-uid' } }), {
    namespace: '',
    name: 'ingester',
    uid: 'a-uid',
    resourceVersion: '',
    createdAt: undefined,
    object: {
      kind: 'ZoneAwarePodDisruptionBudget',
      metadata: { namespace: '', name: 'ingester', uid: 'a-uid', generation: undefined },
      spec: undefined,
    },
  });
});
