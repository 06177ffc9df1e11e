import type { Transport } from '../transport/transport.ts';
import { withAnswerDeadline } from './answer-deadline.ts';
import { type ClusterHeaderOptions, withClusterHeader } from './cluster-header.ts';
import { type RateLimitOptions, withRateLimit } from './rate-limiter.ts';
import { type RequestMetricsOptions, withRequestMetrics } from './request-metrics.ts';
import { type RequestSpansOptions, withRequestSpans } from './request-spans.ts';
import { withServerThrottle } from './server-throttle.ts';

/** The layers of one client; the network below them may be shared between clients (K8-21). */
export interface ApiTransportLayers {
  readonly cluster: ClusterHeaderOptions;
  readonly limit: RateLimitOptions;
  readonly metrics: RequestMetricsOptions;
  /** Absent while nothing is traced. */
  readonly spans?: RequestSpansOptions;
}

/**
 * Returns `network` under the layers of one client, from outside in: cluster header, server throttle, rate limiter, deadline
 * of the answer, metrics, spans, network (K8-24). So a repetition for a throttling server takes a token of its own, no wait
 * is measured, and none counts against the time for an answer (D-53).
 */
export function layeredTransport(network: Transport, layers: ApiTransportLayers): Transport {
  const traced = layers.spans === undefined ? network : withRequestSpans(network, layers.spans);
  const measured = withRequestMetrics(traced, layers.metrics);
  const limited = withRateLimit(withAnswerDeadline(measured), layers.limit);
  return withClusterHeader(withServerThrottle(limited, layers.limit.clock), layers.cluster);
}
