import { another, api, type FiringCase, of, type SilentCase } from './alert-series.ts';

const noOperator = 'nothing rolls, and webhooks that fail closed refuse scale-downs.';

/** The operator itself: its replicas, its leader, and the API server. Each alert fires here at least once. */
export const operatorFiring: readonly FiringCase[] = [
  {
    alert: 'RolloutOperatorDown',
    when: 'both replicas of one of two installations are away',
    series: {
      [of('up', { instance: 'a' })]: '0x30',
      [of('up', { instance: 'b' })]: '0x30',
      [of('up', another)]: '1x30',
    },
    at: 6,
    severity: 'critical',
    labels: {},
    description: `Prometheus reaches no replica of rollout-operator in mimir: ${noOperator}`,
  },
  {
    alert: 'RolloutOperatorDown',
    when: 'one of two installations is scaled to 0',
    series: {
      [of('up', { instance: 'a' })]: '1x10 stale',
      [of('up', { instance: 'b' })]: '1x12 stale',
      [of('up', another)]: '1x60',
    },
    at: 18,
    severity: 'critical',
    labels: {},
    description: `Prometheus reaches no replica of rollout-operator in mimir: ${noOperator}`,
  },
  {
    alert: 'RolloutOperatorDown',
    when: 'the only installation is scaled to 0',
    series: { [of('up', { instance: 'a' })]: '1x10 stale' },
    at: 40,
    severity: 'critical',
    labels: {},
    description: `Prometheus reaches no replica of rollout-operator in mimir: ${noOperator}`,
  },
  {
    alert: 'RolloutOperatorDown',
    when: 'there was no target at all',
    series: { 'up{job="another"}': '1x30' },
    at: 6,
    severity: 'critical',
    labels: undefined,
    description: `Prometheus reaches no replica of rollout-operator: ${noOperator}`,
  },
  {
    alert: 'RolloutOperatorNoLeader',
    series: {
      [of('leader_election_master_status', { instance: 'a' })]: '0x30',
      [of('leader_election_master_status', { instance: 'b' })]: '0x30',
    },
    at: 6,
    severity: 'critical',
    labels: {},
    description: 'All replicas in mimir stand by, so nothing is rolled out or scaled.',
  },
  {
    alert: 'RolloutOperatorSeveralLeaders',
    series: {
      [of('leader_election_master_status', { instance: 'a', name: 'rollout-operator' })]: '1x30',
      [of('leader_election_master_status', { instance: 'b', name: 'rollout-operator' })]: '1x30',
    },
    at: 3,
    severity: 'critical',
    labels: { name: 'rollout-operator' },
    description:
      'Two operators in mimir act at once (rollout-operator); together they may take more pods than either allows.',
  },
  {
    alert: 'RolloutOperatorSeveralLeaders',
    series: { [of('rollout_operator_rival_leases', { lease: 'old-name' })]: '1x30' },
    at: 3,
    severity: 'critical',
    labels: { lease: 'old-name' },
    description:
      'Two operators in mimir act at once (old-name); together they may take more pods than either allows.',
  },
  {
    alert: 'RolloutOperatorRestarting',
    series: {
      [of('process_start_time_seconds', { instance: 'a' })]: '1x5 2x5 3x5 4x5 5x5 6x60',
    },
    at: 34,
    severity: 'warning',
    labels: { instance: 'a' },
    description: 'a in mimir started 5 times in 30 minutes.',
  },
  {
    alert: 'RolloutOperatorViewNotFresh',
    series: { [of('rollout_operator_view_not_fresh', { resource: 'pods' })]: '1x30' },
    at: 6,
    severity: 'warning',
    labels: { resource: 'pods' },
    description: 'Its view of pods in mimir is not kept up to date, so nothing is disrupted.',
  },
  {
    alert: 'RolloutOperatorPermissionRefused',
    series: {
      [of('rollout_operator_refused_permissions', { verb: 'create', resource: 'events' })]: '1x30',
    },
    at: 16,
    severity: 'info',
    labels: { verb: 'create', resource: 'events' },
    description: 'It does not permit create on events in mimir; what that costs is in the runbook.',
  },
  {
    alert: 'RolloutOperatorApiRequestsFailing',
    series: {
      [of(api, { status_code: '200' })]: '0+240x60',
      [of(api, { status_code: '503' })]: '0+30x60',
      [of(api, { status_code: '429' })]: '0+20x60',
      [of(api, { status_code: 'error' })]: '0+10x60',
    },
    at: 30,
    severity: 'warning',
    labels: {},
    description: '20% of the requests from mimir fail or are throttled.',
  },
  {
    alert: 'RolloutOperatorApiRequestsHeldBack',
    series: {
      [of('rollout_operator_kubernetes_api_client_rate_limited_requests_total', {
        api_group: 'apps',
      })]: '0+1x60',
    },
    at: 30,
    severity: 'warning',
    labels: { api_group: 'apps' },
    description: 'Requests to apps from mimir were given up before they were sent.',
  },
  {
    alert: 'RolloutOperatorSaturated',
    series: { [of('nodejs_eventloop_active_seconds_total', { instance: 'a' })]: '0+57x60' },
    at: 30,
    severity: 'warning',
    labels: { instance: 'a' },
    description: 'The event loop of a in mimir is busy 95% of the time, so answers come late.',
  },
];

/** The operator itself: its replicas, its leader, and the API server. Near to an alert, and no reason for it. */
export const operatorSilent: Readonly<Record<string, SilentCase>> = {
  'one replica of two is away': {
    alert: 'RolloutOperatorDown',
    series: { [of('up', { instance: 'a' })]: '0x30', [of('up', { instance: 'b' })]: '1x30' },
    at: 20,
  },
  'one replica of two is gone': {
    alert: 'RolloutOperatorDown',
    series: { [of('up', { instance: 'a' })]: '1x5 stale', [of('up', { instance: 'b' })]: '1x30' },
    at: 20,
  },
  'all pods of an installation are replaced by others': {
    alert: 'RolloutOperatorDown',
    series: {
      [of('up', { instance: 'a' })]: '1x5 stale',
      [of('up', { instance: 'b' })]: '_x6 0x2 1x30',
    },
    at: 20,
  },
  'an installation has been away for longer than an hour, and another is up': {
    alert: 'RolloutOperatorDown',
    series: { [of('up')]: '1x5 stale', [of('up', another)]: '1x90' },
    at: 80,
  },
  'a new leader takes over within four minutes': {
    alert: 'RolloutOperatorNoLeader',
    series: { [of('leader_election_master_status', { instance: 'a' })]: '1x5 0x3 1x30' },
    at: 10,
  },
  'two installations have a leader each': {
    alert: 'RolloutOperatorSeveralLeaders',
    series: {
      [of('leader_election_master_status', { name: 'rollout-operator' })]: '1x30',
      [of('leader_election_master_status', { name: 'rollout-operator' }).replace('mimir', 'loki')]:
        '1x30',
    },
    at: 20,
  },
  'a rollout is rolled out by hand, three starts': {
    alert: 'RolloutOperatorRestarting',
    series: { [of('process_start_time_seconds', { instance: 'a' })]: '1x5 2x5 3x5 4x60' },
    at: 29,
  },
};
