import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { SparseLog } from '#base/sparse-log.ts';
import type { Config } from '#config/config.ts';
import type { Environment } from '#kubernetes/transport/proxy.ts';
import { createPodHttp } from '#pod-http/network-pod-http.ts';
import type { PodHttp } from '#pod-http/pod-http.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import type { Tracing } from '#telemetry/tracing/tracing.ts';

interface PodHttpParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly env: Environment;
  /** Absent while nothing is traced. */
  readonly tracing?: Tracing;
}

/** Returns HTTP to pods as `config` has it, measured and logged (ME-7, ME-8). */
export function podHttpOf({ kubernetes, pods }: Config, parts: PodHttpParts): PodHttp {
  const { clock, log, metrics, env, tracing } = parts;
  // The pods of one set may be a thousand, and each call that failed is reported where it was made, too.
  const rejections = new SparseLog(log, clock);
  return createPodHttp({
    clock,
    env,
    cluster: kubernetes.namespace,
    timeout: pods.clientTimeout,
    observe: (trip) => metrics.observePodRequest(trip),
    ...(tracing !== undefined && { tracing }),
    onRejected: (rejection) => {
      const { route, message } = rejection;
      rejections.warn('', 'cluster check refused a request', { route, message });
      metrics.countClusterRejection(route, rejection.requestCluster);
    },
  });
}
