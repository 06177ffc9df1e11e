/** When each alert fires, and when it does not: series as promtool reads them, one sample a minute from minute 0. */

/** Series by name and labels, with their values. */
export type Series = Readonly<Record<string, string>>;

/** One moment in which one alert fires once. */
export interface FiringCase {
  /** What tells it from other cases of the same alert. */
  readonly when?: string;
  readonly series: Series;
  /** In which minute. */
  readonly at: number;
  readonly severity: 'critical' | 'warning' | 'info';
  /** Labels besides those of the installation; undefined where it has not even those. */
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly description: string;
}

/** One moment in which one alert is silent, although it is near. */
export interface SilentCase {
  readonly alert: string;
  readonly series: Series;
  readonly at: number;
}

/** Labels of the installation that all series have. */
export const installation = { cluster: 'eu', namespace: 'mimir', job: 'rollout-operator' } as const;

/** Labels of another one that the same Prometheus scrapes. */
const another = { cluster: 'eu', namespace: 'loki', job: 'rollout-operator' } as const;

/** The name of a series of the installation with more labels, or with others in their place. */
function of(metric: string, labels: Readonly<Record<string, string>> = {}): string {
  const all = Object.entries({ ...installation, ...labels });
  return `${metric}{${all.map(([name, value]) => `${name}="${value}"`).join(',')}}`;
}

const api = 'rollout_operator_kubernetes_api_client_request_duration_seconds_count';
const podRequests = 'rollout_operator_pod_http_client_request_duration_seconds_count';
const reviews = 'rollout_operator_request_duration_seconds';
const blocked = 'rollout_operator_group_blocked';
const pods = 'rollout_operator_statefulset_pods';
const ingester = { rollout_group: 'ingester' } as const;
const zone = { ...ingester, statefulset: 'ingester-zone-a' } as const;
const outcomes = 'rollout_operator_admission_reviews_total';
const route = 'admission_no_downscale';
const review = { method: 'POST', route, ws: 'false' } as const;

const noOperator = 'nothing rolls, and webhooks that fail closed refuse scale-downs.';
const lastSuccess = 'rollout_operator_last_successful_group_reconcile_timestamp_seconds';

/** One for each alert at least. */
export const firing: readonly (FiringCase & { readonly alert: string })[] = [
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
    description: 'All replicas in mimir stand by, so nothing is rolled or scaled.',
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
    description: 'It does not permit to create events in mimir; what that costs is in the runbook.',
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
  {
    alert: 'RolloutOperatorReconcileFailing',
    series: { [of('rollout_operator_group_reconciles_failed_total', ingester)]: '0+1x60' },
    at: 25,
    severity: 'warning',
    labels: ingester,
    description: 'Passes over ingester in mimir have kept failing for 15 minutes.',
  },
  {
    alert: 'RolloutOperatorReconcileStale',
    series: {
      [of(lastSuccess, ingester)]: '0x60',
      [of(pods, { ...zone, state: 'updated' })]: '3x60',
    },
    at: 20,
    severity: 'warning',
    labels: ingester,
    description: 'The last pass over ingester in mimir that did not fail ended 20m 0s ago.',
  },
  {
    alert: 'RolloutOperatorReconcileStale',
    when: 'the first pass hangs before the pods are counted',
    series: {
      [of(lastSuccess, ingester)]: '0x60',
      [of(blocked, { ...ingester, reason: 'AwaitingRequest' })]: '1x60',
    },
    at: 20,
    severity: 'warning',
    labels: ingester,
    description: 'The last pass over ingester in mimir that did not fail ended 20m 0s ago.',
  },
  {
    alert: 'RolloutOperatorReconcileStale',
    when: 'each pass fails before the pods are counted',
    series: {
      [of(lastSuccess, ingester)]: '0x60',
      [of('rollout_operator_group_reconciles_total', ingester)]: '0+4x60',
    },
    at: 20,
    severity: 'warning',
    labels: ingester,
    description: 'The last pass over ingester in mimir that did not fail ended 20m 0s ago.',
  },
  {
    alert: 'RolloutOperatorRolloutBlocked',
    series: { [of(blocked, { ...ingester, reason: 'MultipleZonesUnavailable' })]: '1x60' },
    at: 16,
    severity: 'warning',
    labels: { ...ingester, reason: 'MultipleZonesUnavailable' },
    description: 'ingester in mimir does not proceed: MultipleZonesUnavailable.',
  },
  {
    alert: 'RolloutOperatorRolloutStuck',
    series: {
      [of(pods, { ...zone, state: 'outdated' })]: '3x120',
      [of(pods, { ...zone, state: 'updated' })]: '2x120',
      [of(pods, { ...zone, state: 'unavailable' })]: '0 1 0 1 0 1x120',
      [of(blocked, { ...ingester, reason: 'ZoneNotReady' })]: '1x120',
    },
    at: 65,
    severity: 'warning',
    labels: ingester,
    description:
      '3 pods of ingester in mimir are outdated, and none was replaced for half an hour.',
  },
  {
    alert: 'RolloutOperatorPausedForLong',
    series: { [of(blocked, { ...ingester, reason: 'Paused' })]: '1x1500' },
    at: 1_441,
    severity: 'info',
    labels: ingester,
    description: 'ingester in mimir has outdated pods and carries grafana.com/rollout-paused.',
  },
  {
    alert: 'RolloutOperatorInputUnusable',
    series: {
      [of('rollout_operator_statefulset_warnings', { ...zone, reason: 'InvalidMaxUnavailable' })]:
        '1x60',
    },
    at: 16,
    severity: 'warning',
    labels: { ...zone, reason: 'InvalidMaxUnavailable' },
    description: 'ingester-zone-a in mimir: InvalidMaxUnavailable. Work goes on without it.',
  },
  {
    alert: 'RolloutOperatorScalingBlocked',
    series: { [of(blocked, { ...ingester, reason: 'PodNotPrepared' })]: '1x60' },
    at: 16,
    severity: 'warning',
    labels: { ...ingester, reason: 'PodNotPrepared' },
    description: 'ingester in mimir is not scaled: PodNotPrepared.',
  },
  {
    alert: 'RolloutOperatorPodRequestsFailing',
    series: {
      [of(podRequests, { path: '/prepare', method: 'POST', status_code: '200' })]: '0+2x60',
      [of(podRequests, { path: '/prepare', method: 'POST', status_code: '500' })]: '0+4x60',
      [of(podRequests, { path: '/prepare', method: 'POST', status_code: 'error' })]: '0+2x60',
    },
    at: 30,
    severity: 'warning',
    labels: { path: '/prepare' },
    description:
      '75% of the requests to /prepare of pods in mimir fail, so they are not scaled down.',
  },
  {
    alert: 'RolloutOperatorWebhookErrors',
    series: {
      [of(`${reviews}_count`, { ...review, status_code: '200' })]: '0+54x60',
      [of(`${reviews}_count`, { ...review, status_code: '429' })]: '0+6x60',
    },
    at: 20,
    severity: 'critical',
    labels: { route: 'admission_no_downscale' },
    description:
      '10% of the reviews of admission_no_downscale in mimir are not answered with 200, or denied as it could not be found out whether they are allowed.',
  },
  {
    alert: 'RolloutOperatorWebhookErrors',
    when: 'the API server does not answer what a webhook has to know',
    series: {
      [of(`${reviews}_count`, { ...review, status_code: '200' })]: '0+60x60',
      [of(outcomes, { route, outcome: 'Allowed' })]: '0+30x60',
      [of(outcomes, { route, outcome: 'Denied' })]: '0+18x60',
      [of(outcomes, { route, outcome: 'DependencyFailed' })]: '0+6x60',
      [of(outcomes, { route, outcome: 'DeadlineExceeded' })]: '0+6x60',
    },
    at: 20,
    severity: 'critical',
    labels: { route },
    description:
      '20% of the reviews of admission_no_downscale in mimir are not answered with 200, or denied as it could not be found out whether they are allowed.',
  },
  {
    alert: 'RolloutOperatorWebhookSlow',
    series: {
      [of(`${reviews}_bucket`, { ...review, status_code: '200', le: '5' })]: '0x60',
      [of(`${reviews}_bucket`, { ...review, status_code: '200', le: '10' })]: '0+60x60',
      [of(`${reviews}_bucket`, { ...review, status_code: '200', le: '+Inf' })]: '0+60x60',
    },
    at: 20,
    severity: 'warning',
    labels: { route: 'admission_no_downscale' },
    description:
      'One review of admission_no_downscale in a hundred takes 9.95s in mimir; the API server waits 10 s.',
  },
  {
    alert: 'RolloutOperatorWebhookIgnored',
    series: {
      [of('kube_validating_webhook_failure_policy', {
        type: 'ValidatingWebhook',
        webhook: 'no-downscale-mimir.grafana.com',
        policy: 'Ignore',
      })]: '1x90',
    },
    at: 61,
    severity: 'warning',
    labels: { type: 'ValidatingWebhook', webhook: 'no-downscale-mimir.grafana.com' },
    description:
      'failurePolicy of no-downscale-mimir.grafana.com is Ignore, so what it guards is unguarded while the operator is away.',
  },
  {
    alert: 'RolloutOperatorCertificateExpiring',
    series: {
      [of('rollout_operator_certificate_expiry_timestamp_seconds', { instance: 'a' })]:
        '1000000x90',
      [of('rollout_operator_certificate_expiry_timestamp_seconds', { instance: 'b' })]:
        '9000000x90',
    },
    at: 61,
    severity: 'critical',
    labels: {},
    description: 'It expires in 11d 12h 45m 40s in mimir; then every review fails.',
  },
  {
    alert: 'RolloutOperatorCertificateRotationWaiting',
    series: {
      [of('rollout_operator_certificate_rotation_waiting', { reason: 'SecretRefused' })]: '1x90',
    },
    at: 61,
    severity: 'warning',
    labels: { reason: 'SecretRefused' },
    description: 'The change in mimir waits: SecretRefused.',
  },
  {
    alert: 'RolloutOperatorWebhookWithoutCa',
    series: { [of('rollout_operator_webhook_configurations_without_ca')]: '2x30' },
    at: 11,
    severity: 'critical',
    labels: {},
    description:
      '2 webhook configurations of mimir lack the CA of this operator, so calls to them fail.',
  },
];

/** An installation of two replicas that is well while a rollout goes on for a day. */
export const healthy: Series = {
  [of('up', { instance: 'a' })]: '1x1500',
  [of('up', { instance: 'b' })]: '1x1500',
  [of('leader_election_master_status', { instance: 'a', name: 'rollout-operator' })]: '1x1500',
  [of('leader_election_master_status', { instance: 'b', name: 'rollout-operator' })]: '0x1500',
  [of('process_start_time_seconds', { instance: 'a' })]: '1x1500',
  [of('nodejs_eventloop_active_seconds_total', { instance: 'a' })]: '0+6x1500',
  [of(api, { status_code: '200' })]: '0+100x1500',
  [of(api, { status_code: '503' })]: '0+1x1500',
  [of('rollout_operator_kubernetes_api_client_rate_limited_requests_total', { api_group: 'apps' })]:
    '0x1500',
  [of('rollout_operator_group_reconciles_failed_total', ingester)]: '0x1500',
  [of(lastSuccess, ingester)]: '0+60x1500',
  [of(blocked, { ...ingester, reason: 'MaxUnavailableReached' })]: '1x1500',
  [of(pods, { ...zone, state: 'outdated' })]: '2000-1x1500',
  [of(pods, { ...zone, state: 'updated' })]: '0+1x1500',
  [of(podRequests, { path: '/prepare', method: 'POST', status_code: '200' })]: '0+9x1500',
  [of(podRequests, { path: '/prepare', method: 'POST', status_code: '503' })]: '0+1x1500',
  [of(`${reviews}_count`, { ...review, status_code: '200' })]: '0+1000x1500',
  [of(`${reviews}_count`, { ...review, status_code: '429' })]: '0+1x1500',
  [of(outcomes, { route, outcome: 'Allowed' })]: '0+900x1500',
  [of(outcomes, { route, outcome: 'Denied' })]: '0+99x1500',
  [of(outcomes, { route, outcome: 'DependencyFailed' })]: '0+1x1500',
  [of(`${reviews}_bucket`, { ...review, status_code: '200', le: '0.1' })]: '0+1000x1500',
  [of(`${reviews}_bucket`, { ...review, status_code: '200', le: '5' })]: '0+1000x1500',
  [of(`${reviews}_bucket`, { ...review, status_code: '200', le: '+Inf' })]: '0+1000x1500',
  [of('kube_validating_webhook_failure_policy', { webhook: 'w', policy: 'Fail' })]: '1x1500',
  [of('kube_validating_webhook_failure_policy', { webhook: 'w', policy: 'Ignore' })]: '0x1500',
  [of('rollout_operator_certificate_expiry_timestamp_seconds')]: '20000000x1500',
  [of('rollout_operator_webhook_configurations_without_ca')]: '0x1500',
};

/** Near to an alert, and no reason for it. */
export const silent: Readonly<Record<string, SilentCase>> = {
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
  'one pass failed an hour ago': {
    alert: 'RolloutOperatorReconcileFailing',
    series: { [of('rollout_operator_group_reconciles_failed_total', ingester)]: '0x5 1x90' },
    at: 65,
  },
  'the leader of before looked long ago, that of now did not': {
    alert: 'RolloutOperatorReconcileStale',
    series: {
      [of(lastSuccess, {
        ...ingester,
        instance: 'a',
      })]: '0x60',
      [of(lastSuccess, {
        ...ingester,
        instance: 'b',
      })]: '0+60x60',
    },
    at: 50,
  },
  'a group is deleted while another one fails': {
    alert: 'RolloutOperatorReconcileStale',
    series: {
      [of(lastSuccess, ingester)]: '0+60x5 300x90',
      [of('rollout_operator_group_reconciles_total', ingester)]: '0+12x5 60x90',
      [of(pods, { ...zone, state: 'updated' })]: '3x5 stale',
    },
    at: 60,
  },
  'a rollout only waits for its pods': {
    alert: 'RolloutOperatorRolloutBlocked',
    series: { [of(blocked, { ...ingester, reason: 'ZoneNotReady' })]: '1x60' },
    at: 50,
  },
  'one pod was replaced in the last half hour': {
    alert: 'RolloutOperatorRolloutStuck',
    series: {
      [of(pods, { ...zone, state: 'outdated' })]: '3x45 2x45',
      [of(pods, { ...zone, state: 'updated' })]: '2x45 3x45',
    },
    at: 70,
  },
  'a rollout stands as somebody paused it': {
    alert: 'RolloutOperatorRolloutStuck',
    series: {
      [of(pods, { ...zone, state: 'outdated' })]: '3x120',
      [of(pods, { ...zone, state: 'updated' })]: '2x120',
      [of(blocked, { ...ingester, reason: 'Paused' })]: '1x120',
    },
    at: 110,
  },
  'nothing is outdated, and nothing changes': {
    alert: 'RolloutOperatorRolloutStuck',
    series: {
      [of(pods, { ...zone, state: 'outdated' })]: '0x120',
      [of(pods, { ...zone, state: 'updated' })]: '3x120',
    },
    at: 110,
  },
  'a zone waits out the time between two': {
    alert: 'RolloutOperatorScalingBlocked',
    series: { [of(blocked, { ...ingester, reason: 'MinimumTimeNotElapsed' })]: '1x60' },
    at: 50,
  },
  'probes fail, and no review does': {
    alert: 'RolloutOperatorWebhookErrors',
    series: {
      [of(`${reviews}_count`, { method: 'GET', route: 'ready', status_code: '500' })]: '0+60x60',
      [of(`${reviews}_count`, { ...review, status_code: '200' })]: '0+60x60',
    },
    at: 50,
  },
  'all is denied by rules, and by pods that are not prepared': {
    alert: 'RolloutOperatorWebhookErrors',
    series: {
      [of(outcomes, { route, outcome: 'Denied' })]: '0+60x60',
      [of(outcomes, { route, outcome: 'PodNotPrepared' })]: '0+60x60',
    },
    at: 50,
  },
  'the certificate has two weeks and a day': {
    alert: 'RolloutOperatorCertificateExpiring',
    series: { [of('rollout_operator_certificate_expiry_timestamp_seconds')]: '1300000x90' },
    at: 80,
  },
};
