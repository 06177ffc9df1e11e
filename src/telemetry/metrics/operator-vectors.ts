import type { CounterMetric, GaugeMetric, HistogramMetric, MetricsRegistry } from '../metrics.ts';
import { bucketsB1 } from '../metrics.ts';
import { declareRequestVectors, type RequestVectors } from './request-vectors.ts';

/** What is measured of each rollout group. */
export interface GroupVectors {
  readonly begun: CounterMetric<'rollout_group'>;
  readonly failed: CounterMetric<'rollout_group'>;
  readonly duration: HistogramMetric<'rollout_group'>;
  readonly lastSuccess: GaugeMetric<'rollout_group'>;
  readonly blocked: GaugeMetric<'rollout_group' | 'reason'>;
  readonly pods: GaugeMetric<'rollout_group' | 'statefulset' | 'state'>;
  readonly warnings: GaugeMetric<'rollout_group' | 'statefulset' | 'reason'>;
}

/** What is measured of the process as a whole. */
export interface ProcessVectors extends RequestVectors {
  readonly capability: GaugeMetric<'capability' | 'reason'>;
  readonly refused: GaugeMetric<'verb' | 'resource'>;
  readonly leader: GaugeMetric<'name'>;
  readonly rivals: GaugeMetric<'lease'>;
  readonly notFresh: GaugeMetric<'resource'>;
}

/** Declares them in `registry`; none has a series until something happens. */
export function declareGroupVectors(registry: MetricsRegistry): GroupVectors {
  const labels = ['rollout_group'] as const;
  return {
    begun: registry.counter({
      name: 'rollout_operator_group_reconciles_total',
      help: 'Reconciles of a rollout group that began.',
      labels,
    }),
    failed: registry.counter({
      name: 'rollout_operator_group_reconciles_failed_total',
      help: 'Reconciles of a rollout group that failed.',
      labels,
    }),
    duration: registry.histogram({
      name: 'rollout_operator_group_reconcile_duration_seconds',
      help: 'Time of a reconcile of a rollout group, failed ones included.',
      labels,
      buckets: bucketsB1,
    }),
    lastSuccess: registry.gauge({
      name: 'rollout_operator_last_successful_group_reconcile_timestamp_seconds',
      help: 'Unix time of the last reconcile of a rollout group that did not fail; 0 until there is one.',
      labels,
    }),
    blocked: registry.gauge({
      name: 'rollout_operator_group_blocked',
      help: 'Why a rollout group does not proceed: 1 with the reason while it is blocked, else absent.',
      labels: ['rollout_group', 'reason'],
    }),
    pods: registry.gauge({
      name: 'rollout_operator_statefulset_pods',
      help: 'Pods of a StatefulSet that are outdated, updated or unavailable.',
      labels: ['rollout_group', 'statefulset', 'state'],
    }),
    warnings: registry.gauge({
      name: 'rollout_operator_statefulset_warnings',
      help: 'Input of a StatefulSet that cannot be used as it is, while work goes on: 1 with the reason, else absent.',
      labels: ['rollout_group', 'statefulset', 'reason'],
    }),
  };
}

/** Declares them in `registry`; none has a series until something happens. */
export function declareProcessVectors(registry: MetricsRegistry): ProcessVectors {
  return {
    ...declareRequestVectors(registry),
    ...declareStates(registry),
  };
}

type StateVectors = Pick<
  ProcessVectors,
  'capability' | 'leader' | 'rivals' | 'refused' | 'notFresh'
>;

function declareStates(registry: MetricsRegistry): StateVectors {
  return {
    capability: registry.gauge({
      name: 'rollout_operator_capability_enabled',
      help: 'Whether a capability runs: 1 or 0, with the reason.',
      labels: ['capability', 'reason'],
    }),
    // The name that client-go gives it, so that alerts on "nobody leads" hold for every controller.
    leader: registry.gauge({
      name: 'leader_election_master_status',
      help: 'Whether this process leads by the Lease of this name: 1, or 0 while it is a standby.',
      labels: ['name'],
    }),
    rivals: registry.gauge({
      name: 'rollout_operator_rival_leases',
      help: 'Another Lease by that name is held for the same namespaces, so two operators reconcile at once.',
      labels: ['lease'],
    }),
    refused: registry.gauge({
      name: 'rollout_operator_refused_permissions',
      help: 'Optional permissions that the Role of this operator does not grant: 1 each, else absent.',
      labels: ['verb', 'resource'],
    }),
    notFresh: registry.gauge({
      name: 'rollout_operator_view_not_fresh',
      help: 'Resource types whose view has not been kept up to date for 30 seconds: 1 each, else absent.',
      labels: ['resource'],
    }),
  };
}
