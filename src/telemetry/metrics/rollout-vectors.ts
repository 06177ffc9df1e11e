import {
  bucketsB2,
  type CounterMetric,
  type GaugeMetric,
  type HistogramMetric,
  type MetricsRegistry,
} from '../metrics.ts';

type Name = 'namespace' | 'name';

/** What a StatefulsetRollout shows of its status. */
export interface RolloutStateVectors {
  readonly phase: GaugeMetric<Name | 'phase'>;
  readonly requested: GaugeMetric<Name>;
  readonly deployed: GaugeMetric<Name>;
  readonly replicas: GaugeMetric<Name | 'state'>;
  readonly leaked: GaugeMetric<Name>;
  readonly partialAge: GaugeMetric<Name>;
  readonly slots: GaugeMetric<Name>;
}

/** What is counted of StatefulsetRollouts. */
export interface RolloutWorkVectors {
  readonly evictions: CounterMetric<Name | 'result'>;
  readonly batches: HistogramMetric<never>;
  readonly completed: CounterMetric<Name | 'result' | 'rollback'>;
  readonly duration: HistogramMetric<Name | 'result'>;
  readonly rotation: HistogramMetric<Name>;
  readonly reconciles: CounterMetric<Name | 'outcome'>;
  readonly errors: CounterMetric<Name>;
  readonly reconcileDuration: HistogramMetric<Name>;
  readonly queue: GaugeMetric<never>;
}

/** What is counted of those outside of the cluster that a rollout queries or notifies. */
export interface RolloutOutsideVectors {
  readonly slack: CounterMetric<'method' | 'result'>;
  readonly slackLimited: CounterMetric<never>;
  readonly consul: CounterMetric<'result'>;
  readonly consulAge: GaugeMetric<never>;
  readonly callbacks: CounterMetric<'result'>;
}

/** Called before each exposition. */
export interface RolloutClockwork {
  readonly showAges: () => void;
  readonly showQueue: () => void;
  readonly showConsulAge: () => void;
}

/** From a minute to a day, in seconds. */
const rolloutBuckets = [60, 300, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 86_400] as const;
/** From a pod that starts at once to one that loads for half an hour, in seconds. */
const rotationBuckets = [5, 10, 20, 30, 60, 120, 300, 600, 1_800] as const;
/** Pods. */
const batchBuckets = [1, 2, 5, 10, 20, 50, 100, 200] as const;

const labels = ['namespace', 'name'] as const;

/** Declares them in `registry`; none has a series until something is shown. */
export function declareRolloutStates(
  registry: MetricsRegistry,
  { showAges }: Pick<RolloutClockwork, 'showAges'>,
): RolloutStateVectors {
  const gauge = (name: string, help: string): GaugeMetric<Name> =>
    registry.gauge({ name: `statefulset_rollout_${name}`, help, labels });
  return {
    phase: registry.gauge({
      name: 'statefulset_rollout_phase',
      help: '1 for the phase that a StatefulsetRollout is in, 0 for all others.',
      labels: [...labels, 'phase'],
    }),
    requested: gauge('percent_requested', 'Percentage of pods that is to be new.'),
    deployed: gauge('percent_deployed', 'Percentage of pods that is new and healthy.'),
    replicas: registry.gauge({
      name: 'statefulset_rollout_replicas',
      help: 'Pods of the StatefulSet, by how far the rollout has come with them.',
      labels: [...labels, 'state'],
    }),
    leaked: gauge('leaked_replicas', 'Pods that came back new before the rollout reached them.'),
    partialAge: registry.gauge({
      name: 'statefulset_rollout_partial_age_seconds',
      help: 'Time since the end of a rollout that left old pods; absent where none is left.',
      labels,
      beforeExposed: showAges,
    }),
    slots: gauge('budget_slots', 'Pods that the budget would have let go when it was last read.'),
  };
}

/** Declares them in `registry`; none has a series until something happens. */
export function declareRolloutWork(
  registry: MetricsRegistry,
  { showQueue }: Pick<RolloutClockwork, 'showQueue'>,
): RolloutWorkVectors {
  return {
    ...declareEvictions(registry),
    ...declareCompletions(registry),
    ...declareReconciles(registry),
    queue: registry.gauge({
      name: 'statefulset_rollout_queue_depth',
      help: 'StatefulsetRollouts that wait for a reconcile.',
      labels: [],
      beforeExposed: showQueue,
    }),
  };
}

function declareEvictions(
  registry: MetricsRegistry,
): Pick<RolloutWorkVectors, 'evictions' | 'batches'> {
  return {
    evictions: registry.counter({
      name: 'statefulset_rollout_evictions_total',
      help: 'Evictions that were sent, by the answer.',
      labels: [...labels, 'result'],
    }),
    batches: registry.histogram({
      name: 'statefulset_rollout_eviction_batch_size',
      help: 'Evictions that were sent together.',
      labels: [],
      buckets: batchBuckets,
    }),
  };
}

function declareCompletions(
  registry: MetricsRegistry,
): Pick<RolloutWorkVectors, 'completed' | 'duration' | 'rotation'> {
  return {
    completed: registry.counter({
      name: 'statefulset_rollout_completed_total',
      help: 'Rollouts with a known outcome.',
      labels: [...labels, 'result', 'rollback'],
    }),
    duration: registry.histogram({
      name: 'statefulset_rollout_duration_seconds',
      help: 'Time from the beginning of a rollout to its outcome, pauses left out.',
      labels: [...labels, 'result'],
      buckets: rolloutBuckets,
    }),
    rotation: registry.histogram({
      name: 'statefulset_rollout_pod_rotation_seconds',
      help: 'Time from the eviction of a pod until its successor is healthy.',
      labels,
      buckets: rotationBuckets,
    }),
  };
}

function declareReconciles(
  registry: MetricsRegistry,
): Pick<RolloutWorkVectors, 'reconciles' | 'errors' | 'reconcileDuration'> {
  return {
    reconciles: registry.counter({
      name: 'statefulset_rollout_reconcile_total',
      help: 'Reconciles of StatefulsetRollouts that ended.',
      labels: [...labels, 'outcome'],
    }),
    errors: registry.counter({
      name: 'statefulset_rollout_reconcile_errors_total',
      help: 'Reconciles of StatefulsetRollouts that ended with a failed request, or a fault of this program.',
      labels,
    }),
    reconcileDuration: registry.histogram({
      name: 'statefulset_rollout_reconcile_duration_seconds',
      help: 'Time of a reconcile, failed ones included.',
      labels,
      buckets: bucketsB2,
    }),
  };
}

/** Declares them in `registry`; none has a series until the first request is made. */
export function declareRolloutOutside(
  registry: MetricsRegistry,
  { showConsulAge }: Pick<RolloutClockwork, 'showConsulAge'>,
): RolloutOutsideVectors {
  return {
    slack: registry.counter({
      name: 'statefulset_rollout_slack_requests_total',
      help: 'Requests to Slack, by method and result.',
      labels: ['method', 'result'],
    }),
    slackLimited: registry.counter({
      name: 'statefulset_rollout_slack_rate_limited_total',
      help: 'Requests that Slack refused as too many.',
      labels: [],
    }),
    consul: registry.counter({
      name: 'statefulset_rollout_consul_requests_total',
      help: 'Requests to Consul, by result.',
      labels: ['result'],
    }),
    consulAge: registry.gauge({
      name: 'statefulset_rollout_consul_snapshot_age_seconds',
      help: 'Time since Consul last reported the health of pods.',
      labels: [],
      beforeExposed: showConsulAge,
    }),
    callbacks: registry.counter({
      name: 'statefulset_rollout_callback_attempts_total',
      help: 'Callbacks that were tried, by their result.',
      labels: ['result'],
    }),
  };
}
