import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Config } from '#config/config.ts';
import type { Environment } from '#kubernetes/proxy.ts';
import type { PodHttp } from '#pod-http/pod-http.ts';
import { createPodHttp } from '#pod-http/undici-pod-http.ts';
import type { OperatorMetrics } from '#telemetry/operator-metrics.ts';

/** HTTP to pods as `config` has it, measured and logged (ME-7, ME-8). */
export function podHttpOf(
  { kubernetes, pods }: Config,
  parts: {
    readonly clock: Clock;
    readonly log: Logger;
    readonly metrics: OperatorMetrics;
    readonly env: Environment;
  },
): PodHttp {
  const { clock, log, metrics, env } = parts;
  return createPodHttp({
    clock,
    env,
    cluster: kubernetes.namespace,
    timeout: pods.clientTimeout,
    observe: (trip) => metrics.observePodRequest(trip),
    onRejected: ({ requestCluster, route, message }) => {
      log.warn('cluster check refused a request', { route, message });
      metrics.countClusterRejection(route, requestCluster);
    },
  });
}
