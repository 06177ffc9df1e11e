import { type FiringCase, of, type SilentCase } from './alert-series.ts';

const observed = 'rollout_operator_zpdb_configurations_observed_total';
const requests = 'rollout_operator_zpdb_eviction_requests_total';
const problem = 'rollout_operator_disruption_budget_problem';
const denied = of(requests, { reason: 'denied', status: '429' });
const allowed = of(requests, { reason: 'allowed', status: '200' });

const invalid =
  'A budget in mimir says nothing that can be kept; the last version of it that did stays in force, and where there was none what it selects is not disrupted at all.';
const exhausted =
  'For half an hour and more the budgets of mimir have denied all that drains, rollouts and scale-downs asked for.';

/** Disruption budgets. Each alert fires here at least once. */
export const budgetFiring: readonly FiringCase[] = [
  {
    alert: 'RolloutOperatorBudgetInvalid',
    when: 'the first one is seen, with which its series begins',
    series: { [of(observed, { result: 'invalid' })]: '_x10 1x60' },
    at: 15,
    severity: 'warning',
    labels: {},
    description: invalid,
  },
  {
    alert: 'RolloutOperatorBudgetInvalid',
    when: 'another one is seen later',
    series: { [of(observed, { result: 'invalid' })]: '1x40 2x20' },
    at: 45,
    severity: 'warning',
    labels: {},
    description: invalid,
  },
  {
    alert: 'RolloutOperatorBudgetProblem',
    series: { [of(problem, { budget: 'ingester', problem: 'ledger-unreadable' })]: '1x60' },
    at: 20,
    severity: 'warning',
    labels: { budget: 'ingester', problem: 'ledger-unreadable' },
    description:
      'ZoneAwarePodDisruptionBudget ingester in mimir: ledger-unreadable. Drains, rollouts and scale-downs of what it selects may stand.',
  },
  {
    alert: 'RolloutOperatorBudgetExhausted',
    series: { [denied]: '0+3x120', [allowed]: '7x120' },
    at: 70,
    severity: 'warning',
    labels: {},
    description: exhausted,
  },
  {
    alert: 'RolloutOperatorEvictionsPiledUp',
    series: { [of('rollout_operator_zpdb_inflight_eviction_requests')]: '25x60' },
    at: 15,
    severity: 'warning',
    labels: {},
    description:
      '25 evictions at once are being judged in mimir; the API server waits 10 s for each.',
  },
];

/** Near to an alert, and no reason for it. */
export const budgetSilent: Readonly<Record<string, SilentCase>> = {
  'an invalid budget was seen long ago': {
    alert: 'RolloutOperatorBudgetInvalid',
    series: { [of(observed, { result: 'invalid' })]: '1x120' },
    at: 90,
  },
  'drains are denied, and one pod goes every 20 minutes': {
    alert: 'RolloutOperatorBudgetExhausted',
    series: { [denied]: '0+3x120', [allowed]: '0x19 1x19 2x19 3x19 4x19 5x19' },
    at: 100,
  },
  'the first pod has just gone, with which the series begins': {
    alert: 'RolloutOperatorBudgetExhausted',
    series: { [denied]: '0+3x120', [allowed]: '_x25 1x90' },
    at: 50,
  },
  'one pod is let go after the other': {
    alert: 'RolloutOperatorEvictionsPiledUp',
    series: { [of('rollout_operator_zpdb_inflight_eviction_requests')]: '0 40 0 0 0 0 0 0 0 0' },
    at: 8,
  },
};
