import type { Clock } from '#base/clock.ts';
import { type Millis, millis } from '#base/units.ts';
import { aroundTransport } from '../transport/around-transport.ts';
import { type Method, type Transport, TransportError } from '../transport/transport.ts';

/** One round trip to the API server (ME-5). */
export interface RoundTrip {
  /** The `path` label: what was asked for, without names and namespaces (ME-12). */
  readonly path: string;
  readonly method: Method;
  /** The status code in digits, or `error` where there was no response. */
  readonly statusCode: string;
  /** Until the whole answer; for streams until the headers. */
  readonly duration: Millis;
}

/** Settings of {@link withRequestMetrics}. */
export interface RequestMetricsOptions {
  readonly clock: Clock;
  /** The `path` label of a path without query (ME-12). */
  readonly pathOf: (path: string) => string;
  readonly observe: (trip: RoundTrip) => void;
}

/**
 * `transport` whose round trips are observed (ME-5). Stands inside the rate limiter, so that no wait for a
 * token is counted (K8-24). A request that `beforeSend` held back was no round trip and is not observed.
 */
export function withRequestMetrics(
  transport: Transport,
  { clock, pathOf, observe }: RequestMetricsOptions,
): Transport {
  return aroundTransport(transport, async (request, send) => {
    const start = clock.monotonic();
    const report = (statusCode: string): void => {
      observe({
        path: pathOf(request.path.split('?', 1)[0] ?? request.path),
        method: request.method,
        statusCode,
        duration: millis(clock.monotonic() - start),
      });
    };
    try {
      const answer = await send(request);
      report(String(answer.status));
      return answer;
    } catch (error) {
      if (error instanceof TransportError) report('error');
      throw error;
    }
  });
}
