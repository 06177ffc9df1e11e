import type { Tracing } from '#telemetry/tracing.ts';
import type {
  Transport,
  TransportRequest,
  TransportResponse,
  TransportStream,
} from './transport.ts';

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
export function withRequestSpans(transport: Transport, options: RequestSpansOptions): Transport {
  return new RequestSpans(transport, options);
}

class RequestSpans implements Transport {
  readonly #inner: Transport;
  readonly #options: RequestSpansOptions;

  constructor(inner: Transport, options: RequestSpansOptions) {
    this.#inner = inner;
    this.#options = options;
  }

  request(request: TransportRequest): Promise<TransportResponse> {
    return this.#traced(request, (carrying) => this.#inner.request(carrying));
  }

  stream(request: TransportRequest): Promise<TransportStream> {
    return this.#traced(request, (carrying) => this.#inner.stream(carrying));
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #traced<Answer extends { readonly status: number }>(
    request: TransportRequest,
    send: (carrying: TransportRequest) => Promise<Answer>,
  ): Promise<Answer> {
    const { tracing, pathOf } = this.#options;
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
  }
}
