import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { millis } from '#base/units.ts';
import type { Config } from '#config/config.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { layeredTransport } from '#kubernetes/middleware/api-transport.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { groupLabel, pathLabel } from '#telemetry/metrics/api-path.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import type { Tracing } from '#telemetry/tracing/tracing.ts';

/** Identifies the product to the API server (K8-26). */
const userAgent = 'rollout-operator';
/** What a client is made of. */
interface Settings {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  /** The authorised way to the API server, without any decoration. */
  readonly transport: Transport;
  /** Absent while nothing is traced. */
  readonly tracing?: Tracing;
}

/** Returns a client whose requests are counted, checked and, unless `isLimited` is false, limited as the flags say. */
export function decoratedClient(options: Settings, isLimited = true): Client {
  const { config, clock, log, metrics, transport, tracing } = options;
  const { namespace, clientTimeout } = config.kubernetes;
  const limiter = isLimited ? config.kubernetes.limiter : undefined;
  const layered = layeredTransport(transport, {
    cluster: {
      cluster: namespace,
      onRejected: ({ route, message }) => {
        log.warn('cluster check refused a request', { route, message });
        metrics.countClusterRejection(route, namespace);
      },
    },
    limit: {
      clock,
      qps: limiter?.qps ?? 0,
      burst: limiter?.burst ?? 0,
      groupOf: groupLabel,
      onLimited: (group) => metrics.countRateLimited(group),
    },
    metrics: {
      clock,
      pathOf: (path) => path,
      observe: ({ path, method, statusCode, duration }) =>
        metrics.observeRequest({
          path,
          method,
          status: statusCode === 'error' ? 'error' : Number(statusCode),
          duration,
        }),
    },
    ...(tracing !== undefined && { spans: { tracing, pathOf: pathLabel } }),
  });
  return createClient({
    transport: layered,
    clock,
    timeout: clientTimeout ?? millis(0),
    userAgent,
  });
}
