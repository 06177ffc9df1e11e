import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { errorOf } from '#base/error-of.ts';
import type { OpenSpan, SpanAttributes, SpanStart, TraceHeaders, Tracing } from './tracing.ts';

const kinds: Readonly<Record<SpanStart['kind'], SpanKind>> = {
  internal: SpanKind.INTERNAL,
  client: SpanKind.CLIENT,
  server: SpanKind.SERVER,
};

/** Longest message of an error that a span carries, in UTF-16 code units. */
const longestMessage = 1_000;

/** A span of ours, and the context in which its children begin. */
interface Enclosing {
  readonly span: Span;
  readonly context: Context;
  isOpen: boolean;
}

/** Makes the spans of `tracer`; what lies within what is known by the asynchronous context of the calls. */
export class SdkTracing implements Tracing {
  readonly #tracer: Tracer;
  readonly #propagator: TextMapPropagator | undefined;
  readonly #enclosing = new AsyncLocalStorage<Enclosing>();

  /** @param propagator undefined: traces neither come from callers nor go on to servers that are called */
  constructor(tracer: Tracer, propagator: TextMapPropagator | undefined) {
    this.#tracer = tracer;
    this.#propagator = propagator;
  }

  within<T>(start: SpanStart, work: (span: OpenSpan) => T): T {
    const { name, kind, attributes = {}, caller } = start;
    const { context, links } = this.#beginning(caller);
    const span = this.#tracer.startSpan(
      name,
      { kind: kinds[kind], attributes: { ...attributes }, links: [...links] },
      context,
    );
    const own: Enclosing = { span, context: trace.setSpan(context, span), isOpen: true };
    const open = new SdkSpan(own, this.#propagator);
    const end = (): void => {
      own.isOpen = false;
      span.end();
    };
    const fail = (error: unknown): void => {
      open.fail(error);
      end();
    };
    try {
      const result = this.#enclosing.run(own, work, open);
      if (result instanceof Promise) result.then(end, fail);
      else end();
      return result;
    } catch (error) {
      fail(error);
      throw error;
    }
  }

  traceId(): string | undefined {
    const enclosing = this.#enclosing.getStore();
    if (enclosing?.isOpen !== true) return undefined;
    const { traceId, traceFlags } = enclosing.span.spanContext();
    return (traceFlags & TraceFlags.SAMPLED) === 0 ? undefined : traceId;
  }

  #beginning(caller: TraceHeaders | undefined): {
    readonly context: Context;
    readonly links: readonly Link[];
  } {
    if (caller !== undefined && this.#propagator !== undefined) {
      const context = this.#propagator.extract(ROOT_CONTEXT, caller, defaultTextMapGetter);
      return { context, links: [] };
    }
    const enclosing = this.#enclosing.getStore();
    if (enclosing === undefined) return { context: ROOT_CONTEXT, links: [] };
    if (enclosing.isOpen) return { context: enclosing.context, links: [] };
    return { context: ROOT_CONTEXT, links: [{ context: enclosing.span.spanContext() }] };
  }
}

class SdkSpan implements OpenSpan {
  readonly #own: Enclosing;
  readonly #propagator: TextMapPropagator | undefined;

  constructor(own: Enclosing, propagator: TextMapPropagator | undefined) {
    this.#own = own;
    this.#propagator = propagator;
  }

  set(attributes: SpanAttributes): void {
    this.#own.span.setAttributes({ ...attributes });
  }

  fail(error: unknown): void {
    const { name, message } = textsOf(error);
    this.#own.span.recordException({ name, message });
    this.#own.span.setStatus({ code: SpanStatusCode.ERROR, message });
  }

  headers(): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {};
    this.#propagator?.inject(this.#own.context, headers, defaultTextMapSetter);
    return headers;
  }
}

/** Returns what a span says about what was thrown, which may be anything, such as an object without a prototype. */
function textsOf(thrown: unknown): { readonly name: string; readonly message: string } {
  try {
    const { name, message }: { readonly name: unknown; readonly message: unknown } =
      errorOf(thrown);
    return { name: String(name), message: String(message).slice(0, longestMessage) };
  } catch {
    return { name: 'Error', message: 'something was thrown that has no text' };
  }
}
