import {
  bucketsB2,
  type CounterMetric,
  type HistogramMetric,
  type MetricsRegistry,
} from '../metrics.ts';
import { boundedCounter, boundedHistogram } from './bounded-series.ts';

type RequestHistogram = Pick<HistogramMetric<'path' | 'method' | 'status_code'>, 'observe'>;

/** Metrics of the requests that this program sends (ME-5…ME-8). Others choose some of their labels, so they are bounded. */
export interface RequestVectors {
  readonly request: RequestHistogram;
  readonly rateLimited: Pick<CounterMetric<'api_group'>, 'add'>;
  readonly podRequest: RequestHistogram;
  readonly rejected: Pick<CounterMetric<'method' | 'protocol' | 'request_cluster'>, 'add'>;
}

/** Declares them in `registry`. */
export function declareRequestVectors(registry: MetricsRegistry): RequestVectors {
  const requests = { labels: ['path', 'method', 'status_code'], buckets: bucketsB2 } as const;
  const request = registry.histogram({
    ...requests,
    name: 'rollout_operator_kubernetes_api_client_request_duration_seconds',
    help: 'Time of a request to the Kubernetes API, without the wait for the rate limiter.',
  });
  const rateLimited = registry.counter({
    name: 'rollout_operator_kubernetes_api_client_rate_limited_requests_total',
    help: 'Requests to the Kubernetes API that the rate limiter never let through.',
    labels: ['api_group'],
  });
  const podRequest = registry.histogram({
    ...requests,
    name: 'rollout_operator_pod_http_client_request_duration_seconds',
    help: 'Time of a request to a pod.',
  });
  const rejected = registry.counter({
    name: 'rollout_operator_client_invalid_cluster_validation_label_requests_total',
    help: 'Requests of this operator that the cluster validation of another server rejected.',
    labels: ['method', 'protocol', 'request_cluster'],
  });
  return {
    // What an annotation names is asked for, whatever it is; a path of another shape than an object's is its own label.
    request: boundedHistogram(request, { outside: ['path'], most: 500 }),
    rateLimited: boundedCounter(rateLimited, { outside: ['api_group'], most: 100 }),
    // Annotations and redirects choose the path, pods the status, and the route of their refusal.
    podRequest: boundedHistogram(podRequest, { outside: ['path', 'status_code'], most: 100 }),
    rejected: boundedCounter(rejected, { outside: ['method'], most: 100 }),
  };
}
