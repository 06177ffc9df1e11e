import {
  blocked,
  type FiringCase,
  ingester,
  lastSuccess,
  of,
  podRequests,
  pods,
  type SilentCase,
  zone,
} from './alert-series.ts';

/** Groups, their scaling, and the pods that are asked. Each alert fires here at least once. */
export const groupFiring: readonly FiringCase[] = [
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
];

/** Groups, their scaling, and the pods that are asked. Near to an alert, and no reason for it. */
export const groupSilent: Readonly<Record<string, SilentCase>> = {
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
  'a rollout stands as a user paused it': {
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
};
