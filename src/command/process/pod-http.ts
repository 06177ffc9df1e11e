import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { SparseLog } from '#base/sparse-log.ts';
import type { Config } from '#config/config.ts';
import type { Environment } from '#kubernetes/transport/proxy.ts';
import type { PodAnswer, PodCall, PodHttp } from '#pod-http/pod-http.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import type { Tracing } from '#telemetry/tracing/tracing.ts';

/** Returns HTTP to pods as `config` has it, measured and logged (ME-7, ME-8). */
export function podHttpOf(config: Config, parts: PodHttpParts): PodHttp {
  return new LatePodHttp(() => openPodHttp(config, parts));
}

interface PodHttpParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly env: Environment;
  /** Absent while nothing is traced. */
  readonly tracing?: Tracing;
}

async function openPodHttp({ kubernetes, pods }: Config, parts: PodHttpParts): Promise<PodHttp> {
  const { clock, log, metrics, env, tracing } = parts;
  // The pods of one set may be a thousand, and each call that failed is reported where it was made, too.
  const rejections = new SparseLog(log, clock);
  const { createPodHttp } = await import('#pod-http/undici-pod-http.ts');
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

/** Opened by its first call: most operators never call a pod, and the adapter brings all of undici with it. */
class LatePodHttp implements PodHttp {
  readonly #open: () => Promise<PodHttp>;
  #opened: Promise<PodHttp> | undefined;
  #isClosed = false;

  constructor(open: () => Promise<PodHttp>) {
    this.#open = open;
  }

  async call(call: PodCall): Promise<PodAnswer> {
    this.#opened ??= this.#open();
    const pods = await this.#opened;
    if (this.#isClosed) await pods.close();
    return pods.call(call);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#opened)?.close();
  }
}
