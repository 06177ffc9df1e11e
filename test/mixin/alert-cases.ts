/** When each alert fires, and when it does not. */
import {
  api,
  blocked,
  type FiringCase,
  ingester,
  lastSuccess,
  of,
  outcomes,
  podRequests,
  pods,
  review,
  reviews,
  route,
  type Series,
  type SilentCase,
  zone,
} from './alert-series.ts';
import { budgetFiring, budgetSilent } from './budget-cases.ts';
import { groupFiring, groupSilent } from './group-cases.ts';
import { operatorFiring, operatorSilent } from './operator-cases.ts';
import { outsideFiring, outsideSilent } from './outside-cases.ts';
import {
  statefulsetRolloutFiring,
  statefulsetRolloutHealthy,
  statefulsetRolloutSilent,
} from './statefulset-rollout-cases.ts';
import { webhookFiring, webhookSilent } from './webhook-cases.ts';
import { zoneFiring, zoneHealthy, zoneSilent } from './zone-cases.ts';

/** One for each alert at least. */
export const firing: readonly FiringCase[] = [
  ...operatorFiring,
  ...groupFiring,
  ...webhookFiring,
  ...budgetFiring,
  ...zoneFiring,
  ...statefulsetRolloutFiring,
  ...outsideFiring,
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
  ...zoneHealthy,
  ...statefulsetRolloutHealthy,
};

/** Near to an alert, and no reason for it. */
export const silent: Readonly<Record<string, SilentCase>> = {
  ...operatorSilent,
  ...groupSilent,
  ...webhookSilent,
  ...budgetSilent,
  ...zoneSilent,
  ...statefulsetRolloutSilent,
  ...outsideSilent,
};
