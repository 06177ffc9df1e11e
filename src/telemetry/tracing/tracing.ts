import type { Attributes } from '@opentelemetry/api';

/** What a span says: names, words of closed sets, counts; nothing secret, and nothing without a bound. */
export type SpanAttributes = Readonly<Attributes>;

/** Headers of a request, names in lower case. */
export type TraceHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** How a span begins. */
export interface SpanStart {
  /** One of few. */
  readonly name: string;
  /** `server`: something that was asked of this program; `client`: something that it asks of others. */
  readonly kind: 'internal' | 'client' | 'server';
  readonly attributes?: SpanAttributes;
  /** Headers of the request that is served: its trace goes on here. */
  readonly caller?: TraceHeaders;
}

/** A span while its work lasts. */
export interface OpenSpan {
  set(attributes: SpanAttributes): void;
  /** Marks it as failed. */
  fail(error: unknown): void;
  /** Returns the headers by which one that is asked goes on with the trace; empty where `OTEL_PROPAGATORS` names none. */
  headers(): Readonly<Record<string, string>>;
}

/**
 * Where spans are made. A maker of spans gets one, or none while tracing is off: then there is nothing to do, and no
 * global provider that tests could share.
 */
export interface Tracing {
  /**
   * Runs `work` in a new span, whose end is that of the promise, or of the call where there is none. What it throws fails
   * the span, and is the caller's.
   *
   * Spans that begin in the meantime are its children. What goes on after its end, such as the requests that a pass
   * began, begins a trace of its own that links to it: a trace never outlives its first span.
   */
  within<T>(start: SpanStart, work: (span: OpenSpan) => T): T;
  /** Returns the trace that is recorded here and now, in 32 hexadecimal digits; undefined where none is. */
  traceId(): string | undefined;
}
