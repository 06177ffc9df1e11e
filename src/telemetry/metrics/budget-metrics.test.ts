import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetricsRegistry } from '../metrics.ts';
import { BudgetMetrics } from './budget-metrics.ts';

function open(): { readonly metrics: BudgetMetrics; readonly series: () => Promise<string[]> } {
  const registry = createMetricsRegistry();
  const metrics = new BudgetMetrics(registry);
  const series = async (): Promise<string[]> => {
    const lines = (await registry.expose()).split('\n');
    return lines.filter((line) => line !== '' && !line.startsWith('#'));
  };
  return { metrics, series };
}

const underWay = 'rollout_operator_zpdb_inflight_eviction_requests';

test('BudgetMetrics have no series with labels until something happens', async () => {
  const { series } = open();
  assert.deepEqual(await series(), [`${underWay} 0`]);
});

test('BudgetMetrics count what was seen of budgets by what came of it', async () => {
  const { metrics, series } = open();
  metrics.countObserved('updated');
  metrics.countObserved('delete-ignored');
  metrics.countObserved('updated');
  const name = 'rollout_operator_zpdb_configurations_observed_total';
  assert.deepEqual(await series(), [
    `${name}{result="updated"} 2`,
    `${name}{result="delete-ignored"} 1`,
    `${underWay} 0`,
  ]);
});

test('BudgetMetrics show a question while it is under way, and count it once by its answer', async () => {
  const { metrics, series } = open();
  const requests = 'rollout_operator_zpdb_eviction_requests_total';
  const first = metrics.beginRequest();
  const second = metrics.beginRequest();
  assert.deepEqual(await series(), [`${underWay} 2`]);
  first({ reason: 'err: sts-pod-status-not-determined', status: 429 });
  second({ reason: 'sts-no-found', status: 403 });
  assert.deepEqual(await series(), [
    `${requests}{reason="err: sts-pod-status-not-determined",status="429"} 1`,
    `${requests}{reason="sts-no-found",status="403"} 1`,
    `${underWay} 0`,
  ]);
});

test('BudgetMetrics count a question of our own like an eviction', async () => {
  const { metrics, series } = open();
  metrics.countRequest({ reason: 'allowed', status: 200 });
  assert.deepEqual(await series(), [
    'rollout_operator_zpdb_eviction_requests_total{reason="allowed",status="200"} 1',
    `${underWay} 0`,
  ]);
});

test('BudgetMetrics show what is wrong with budgets as long as it is', async () => {
  const { metrics, series } = open();
  const name = 'rollout_operator_disruption_budget_problem';
  const line = (budget: string, problem: string): string =>
    `${name}{namespace="test",budget="${budget}",problem="${problem}"} 1`;
  const of = { namespace: 'test', budget: 'a' } as const;
  metrics.showProblems([
    { ...of, problem: 'overlap' },
    { ...of, budget: 'b', problem: 'overlap' },
    { ...of, problem: 'unreadable' },
  ]);
  assert.deepEqual(await series(), [
    `${underWay} 0`,
    line('a', 'overlap'),
    line('b', 'overlap'),
    line('a', 'unreadable'),
  ]);
  metrics.showProblems([{ ...of, problem: 'unreadable' }]);
  assert.deepEqual(await series(), [`${underWay} 0`, line('a', 'unreadable')]);
  metrics.showProblems([]);
  assert.deepEqual(await series(), [`${underWay} 0`]);
});
