import { bucketsB2, type MetricsRegistry } from '#telemetry/metrics.ts';
import type { PodClusterRejection } from './cluster-check.ts';
import type { PodRoundTrip } from './pod-http.ts';

/** Where calls of pods are counted; its members fit the options of `createPodHttp`. */
export interface PodHttpMetrics {
  readonly observe: (trip: PodRoundTrip) => void;
  readonly onRejected: (rejection: PodClusterRejection) => void;
}

/** Declares the metrics of calls of pods (ME-7, ME-8) in `registry`; none has a series until something happens. */
export function createPodHttpMetrics(registry: MetricsRegistry): PodHttpMetrics {
  const duration = registry.histogram({
    name: 'rollout_operator_pod_http_client_request_duration_seconds',
    help: 'Time of a request to a pod, redirects each on their own.',
    labels: ['path', 'method', 'status_code'],
    buckets: bucketsB2,
  });
  const rejected = registry.counter({
    name: 'rollout_operator_client_invalid_cluster_validation_label_requests_total',
    help: 'Requests of this operator that the cluster check of somebody else turned away.',
    labels: ['method', 'protocol', 'request_cluster'],
  });
  return {
    observe: ({ path, method, status, duration: span }) => {
      duration.observe({ path, method, status_code: String(status) }, span / 1_000);
    },
    // The label "method" holds the route that the rejection names: so the peer has it.
    onRejected: ({ route, requestCluster }) => {
      rejected.add({ method: route, protocol: 'http', request_cluster: requestCluster });
    },
  };
}
