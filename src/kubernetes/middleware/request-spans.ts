import type { Tracing } from '#telemetry/tracing/tracing.ts';
import { aroundTransport } from '../transport/around-transport.ts';
import type { Transport } from '../transport/transport.ts';

/** Settings of {@link withRequestSpans}. */
export interface RequestSpansOptions {
  readonly tracing: Tracing;
  /** Names what a path without query is of, without any names of objects (ME-12). */
  readonly pathOf: (path: string) => string;
}

/**
 * `transport` whose round trips are spans, and whose requests carry them on to the API server. Stands inside the rate
 * limiter, as the metrics do (K8-24). A span of a stream ends with the headers: a watch lasts for minutes.
 */
export function withRequestSpans(
  transport: Transport,
  { tracing, pathOf }: RequestSpansOptions,
): Transport {
  return aroundTransport(transport, (request, send) => {
    const { method } = request;
    const path = request.path.split('?', 1)[0] ?? request.path;
    const attributes = { 'http.request.method': method, 'url.path': path };
    const start = { name: `${method} ${pathOf(path)}`, kind: 'client', attributes } as const;
    return tracing.within(start, async (span) => {
      const answer = await send({ ...request, headers: { ...request.headers, ...span.headers() } });
      span.set({ 'http.response.status_code': answer.status });
      if (answer.status >= 400) span.fail(new Error(`the API server answered ${answer.status}`));
      return answer;
    });
  });
}
