/**
 * What docs/metrics.md says of each metric, beyond the help that scrapers get. It decides nothing: names, types
 * and labels are those that the program declares.
 */

/** What a metric is, by its name. One that is missing here is described by its help. */
export const metricNotes: Readonly<Record<string, string>> = {
  rollout_operator_group_reconciles_total: 'passes over a group that began',
  rollout_operator_group_reconciles_failed_total: 'passes that failed',
  rollout_operator_group_reconcile_duration_seconds: 'time of a pass',
  rollout_operator_last_successful_group_reconcile_timestamp_seconds:
    'when the last pass that did not fail ended; 0 until there is one. Passes happen when something changes, and at least once in `-reconcile.interval`',
  rollout_operator_group_blocked:
    '1 with the [reason](reasons.md) why a group does not proceed, else absent',
  rollout_operator_statefulset_pods: 'pods that are `outdated`, `updated`, `unavailable`',
  rollout_operator_statefulset_warnings:
    '1 for each [reason](reasons.md) of kind `warn` while it lasts, else absent',
  rollout_operator_kubernetes_api_client_request_duration_seconds:
    'requests to the API server; `status_code` is `error` where there was no answer',
  rollout_operator_kubernetes_api_client_rate_limited_requests_total:
    'requests that the limiter never let out',
  rollout_operator_pod_http_client_request_duration_seconds: 'requests to pods',
  rollout_operator_client_invalid_cluster_validation_label_requests_total:
    'requests of ours that another cluster check turned away',
  rollout_operator_server_invalid_cluster_validation_label_requests_total:
    'requests that ours turned away',
  rollout_operator_request_duration_seconds:
    'requests that were answered, those of webhooks with `route=~"admission_.*"`',
  rollout_operator_request_message_bytes: 'sizes of requests that were answered',
  rollout_operator_response_message_bytes: 'sizes of the answers',
  rollout_operator_inflight_requests: 'requests under way',
  rollout_operator_admission_reviews_total:
    'reviews that were answered with 200: `Allowed`, `Denied` by a rule, or denied in doubt: `DependencyFailed` (the API server did), `Forbidden` (the Role), `DeadlineExceeded`, `Overloaded`, `Unreadable` (an object, or what is stored with it), `NotKnownYet` (something that it takes has not been seen or answered yet), `PodNotPrepared` (a pod did not say yes), `InternalError`',
  kube_validating_webhook_failure_policy:
    '1 for the policy that a labelled webhook has, 0 for the other',
  rollout_operator_webhook_reviews_not_routed:
    '1 while the Service of the webhooks sends no review to this replica: `PodNotLabelled`, its pod lacks the label of a leader that only this program sets; `ServiceSelectsOthers`, it lacks another one',
  rollout_operator_zpdb_configurations_observed_total:
    "ZoneAwarePodDisruptionBudgets that were seen: `updated`, `ignored`, `invalid`, `deleted`, `delete-ignored`. Each series is there once it has counted something, as the peer's",
  rollout_operator_zpdb_eviction_requests_total:
    "evictions, and disruptions of our own, that budgets were asked about: the peer's reasons, `overloaded` and `not-determined`, with the code of the answer, 200 for allowed. Each series is there once it has counted something",
  rollout_operator_zpdb_inflight_eviction_requests: 'evictions that budgets are being asked about',
  rollout_operator_disruption_budget_problem:
    '1 while something is wrong with a budget: `unreadable`, `overlap` (another one selects a pod of it), `never-met` (it can never let a pod go), `ledger-unreadable`; else absent',
  rollout_operator_capability_enabled: '1 for what runs, 0 for what does not, with the reason',
  rollout_operator_refused_permissions:
    '1 for each optional permission that the Role does not grant',
  rollout_operator_view_not_fresh:
    '1 while the view of a resource has not been kept up to date for 30 s',
  rollout_operator_rival_leases: '1 for another Lease whose holder reconciles the same namespaces',
  leader_election_master_status: '1 where this replica leads, 0 where it is on standby',
  rollout_operator_certificate_expiry_timestamp_seconds: 'when the served certificate expires',
  rollout_operator_certificate_rotation_waiting:
    '1 while a new certificate is not served yet, with the reason',
  rollout_operator_webhook_configurations_without_ca:
    'labelled webhook configurations that lack a CA of this operator',
  rollout_operator_lost_spans_total:
    'spans of [traces](compatibility.md#traces) that no collector got: `QueueFull`, as too many waited (`OTEL_BSP_MAX_QUEUE_SIZE`), or `NotSent`, as it did not take them; absent while nothing is traced',
};

/** Metrics of the process itself, which the library of metrics or Node declares: on other systems some are absent. */
export const processMetrics: readonly {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly labels: readonly string[];
  readonly note: string;
}[] = [
  {
    name: 'process_cpu_seconds_total',
    type: 'counter',
    labels: [],
    note: 'CPU time, user and system',
  },
  {
    name: 'process_resident_memory_bytes',
    type: 'gauge',
    labels: [],
    note: 'memory that the process has in RAM',
  },
  {
    name: 'process_virtual_memory_bytes',
    type: 'gauge',
    labels: [],
    note: 'memory that the process has reserved',
  },
  { name: 'process_heap_bytes', type: 'gauge', labels: [], note: 'data segment of the process' },
  { name: 'process_open_fds', type: 'gauge', labels: [], note: 'file descriptors that are open' },
  { name: 'process_max_fds', type: 'gauge', labels: [], note: 'file descriptors that may be open' },
  {
    name: 'process_start_time_seconds',
    type: 'gauge',
    labels: [],
    note: 'when the process started',
  },
  {
    name: 'nodejs_heap_size_used_bytes',
    type: 'gauge',
    labels: [],
    note: 'heap of JavaScript that is in use',
  },
  {
    name: 'nodejs_heap_size_total_bytes',
    type: 'gauge',
    labels: [],
    note: 'heap of JavaScript that is reserved',
  },
  {
    name: 'nodejs_external_memory_bytes',
    type: 'gauge',
    labels: [],
    note: 'memory outside of the heap that objects in it hold',
  },
  {
    name: 'nodejs_active_resources',
    type: 'gauge',
    labels: ['type'],
    note: 'sockets, timers and other handles that keep the event loop alive',
  },
  {
    name: 'nodejs_eventloop_active_seconds_total',
    type: 'counter',
    labels: [],
    note: 'time that the event loop was busy',
  },
  {
    name: 'nodejs_version_info',
    type: 'gauge',
    labels: ['version', 'major', 'minor', 'patch'],
    note: '1, with the version of Node',
  },
];

/** Names that programs of every kind have, no matter who wrote them. */
export const standardMetrics: ReadonlySet<string> = new Set([
  'leader_election_master_status',
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
  'process_virtual_memory_bytes',
  'process_heap_bytes',
  'process_open_fds',
  'process_max_fds',
  'process_start_time_seconds',
  'nodejs_heap_size_used_bytes',
  'nodejs_heap_size_total_bytes',
  'nodejs_external_memory_bytes',
  'nodejs_active_resources',
  'nodejs_version_info',
]);
