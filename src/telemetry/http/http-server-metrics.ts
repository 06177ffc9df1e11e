import type { Millis } from '#base/units.ts';
import { boundedCounter, methodLabel } from '../metrics/bounded-series.ts';
import type { CounterMetric, MetricsRegistry } from '../metrics.ts';
import { bucketsB2, bucketsB3 } from '../metrics.ts';

/** One request that was answered. */
export interface ServedRequest {
  readonly method: string;
  /** What a path is called in the label `route` (ME-14). */
  readonly route: string;
  readonly status: number;
  readonly isWebSocket: boolean;
  readonly duration: Millis;
  readonly requestBytes: number;
  readonly responseBytes: number;
}

/** A request whose `X-Cluster` header is not the namespace. */
export interface MisdirectedRequest {
  readonly route: string;
  /** The value that was expected. */
  readonly expected: string;
  /** The value that came; empty when there was none. */
  readonly received: string;
}

/** The metrics that the plain and the TLS server share (ME-20…ME-24). */
export interface HttpServerMetrics {
  /** Adds `change` to the requests under way (ME-23). */
  changeInflight(method: string, route: string, change: number): void;
  observeServed(request: ServedRequest): void;
  countMisdirected(request: MisdirectedRequest): void;
}

/** Declares the metrics in `registry`, once for all servers of the process. */
export function createHttpServerMetrics(registry: MetricsRegistry): HttpServerMetrics {
  const duration = registry.histogram({
    name: 'rollout_operator_request_duration_seconds',
    help: 'Time of an HTTP request that was served.',
    labels: ['method', 'route', 'status_code', 'ws'],
    buckets: bucketsB2,
  });
  const requestBytes = registry.histogram({
    name: 'rollout_operator_request_message_bytes',
    help: 'Size of the body of an HTTP request.',
    labels: ['method', 'route'],
    buckets: bucketsB3,
  });
  const responseBytes = registry.histogram({
    name: 'rollout_operator_response_message_bytes',
    help: 'Size of the body of an HTTP response, as it was sent.',
    labels: ['method', 'route'],
    buckets: bucketsB3,
  });
  const inflight = registry.gauge({
    name: 'rollout_operator_inflight_requests',
    help: 'HTTP requests under way.',
    labels: ['method', 'route'],
  });
  const misdirected = misdirectedCounter(registry);
  return {
    changeInflight: (received, route, change) =>
      inflight.add({ method: methodLabel(received), route }, change),
    observeServed: (request) => {
      const method = methodLabel(request.method);
      const { route, status, isWebSocket } = request;
      const labels = { method, route, status_code: String(status), ws: String(isWebSocket) };
      duration.observe(labels, request.duration / 1_000);
      requestBytes.observe({ method, route }, request.requestBytes);
      responseBytes.observe({ method, route }, request.responseBytes);
    },
    countMisdirected: ({ route, expected, received }) =>
      misdirected.add({
        protocol: 'http',
        method: route,
        cluster_validation_label: expected,
        request_cluster_validation_label: received,
      }),
  };
}

type MisdirectedLabel =
  | 'protocol'
  | 'method'
  | 'cluster_validation_label'
  | 'request_cluster_validation_label';

/** Returns a counter of bounded series: any client can name any cluster. */
function misdirectedCounter(
  registry: MetricsRegistry,
): Pick<CounterMetric<MisdirectedLabel>, 'add'> {
  const counter = registry.counter({
    name: 'rollout_operator_server_invalid_cluster_validation_label_requests_total',
    help: 'HTTP requests with a cluster validation label other than that of this operator.',
    labels: ['protocol', 'method', 'cluster_validation_label', 'request_cluster_validation_label'],
  });
  return boundedCounter(counter, { outside: ['request_cluster_validation_label'], most: 100 });
}
