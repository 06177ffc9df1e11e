/** What documents say that the program shows. */

/** Metrics of grafana/rollout-operator v0.38.1 that this operator has, with type and labels, from its specification. */
export const peerMetrics: Readonly<
  Record<string, { readonly type: string; readonly labels: readonly string[] }>
> = {
  rollout_operator_group_reconciles_total: { type: 'counter', labels: ['rollout_group'] },
  rollout_operator_group_reconciles_failed_total: { type: 'counter', labels: ['rollout_group'] },
  rollout_operator_group_reconcile_duration_seconds: {
    type: 'histogram',
    labels: ['rollout_group'],
  },
  rollout_operator_last_successful_group_reconcile_timestamp_seconds: {
    type: 'gauge',
    labels: ['rollout_group'],
  },
  rollout_operator_kubernetes_api_client_request_duration_seconds: {
    type: 'histogram',
    labels: ['path', 'method', 'status_code'],
  },
  rollout_operator_kubernetes_api_client_rate_limited_requests_total: {
    type: 'counter',
    labels: ['api_group'],
  },
  rollout_operator_pod_http_client_request_duration_seconds: {
    type: 'histogram',
    labels: ['path', 'method', 'status_code'],
  },
  rollout_operator_client_invalid_cluster_validation_label_requests_total: {
    type: 'counter',
    labels: ['method', 'protocol', 'request_cluster'],
  },
  rollout_operator_request_duration_seconds: {
    type: 'histogram',
    labels: ['method', 'route', 'status_code', 'ws'],
  },
  rollout_operator_request_message_bytes: { type: 'histogram', labels: ['method', 'route'] },
  rollout_operator_response_message_bytes: { type: 'histogram', labels: ['method', 'route'] },
  rollout_operator_inflight_requests: { type: 'gauge', labels: ['method', 'route'] },
  rollout_operator_server_invalid_cluster_validation_label_requests_total: {
    type: 'counter',
    labels: ['protocol', 'method', 'cluster_validation_label', 'request_cluster_validation_label'],
  },
  rollout_operator_zpdb_configurations_observed_total: { type: 'counter', labels: ['result'] },
  rollout_operator_zpdb_eviction_requests_total: {
    type: 'counter',
    labels: ['reason', 'status'],
  },
  rollout_operator_zpdb_inflight_eviction_requests: { type: 'gauge', labels: [] },
  kube_validating_webhook_failure_policy: { type: 'gauge', labels: ['type', 'webhook', 'policy'] },
};

/** What the tables of docs/metrics.md list: `name type labels`, the labels sorted. */
export function documentedMetrics(page: string): readonly string[] {
  const rows = page
    .split('\n')
    .filter((line) => /^\| `[a-z_]+`.* \| (?:counter|gauge|histogram) \|/.test(line));
  return rows.flatMap((row) => {
    const [, names = '', type = '', labels = ''] = row.split('|').map((cell) => cell.trim());
    const words = (cell: string): readonly string[] =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, word = '']) => word);
    return words(names).map((name) => `${name} ${type} ${words(labels).toSorted().join(',')}`);
  });
}
