import type { JsonObject, JsonValue } from '#base/json.ts';

/** A span as a collector gets it. */
export interface SeenSpan {
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'other';
  readonly traceId: string;
  readonly spanId: string;
  /** Empty where it has none. */
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The message of its status; undefined unless it failed. */
  readonly failure: string | undefined;
  /** Span ids of what it links to. */
  readonly links: readonly string[];
  /** `name: message` of each error that it carries. */
  readonly errors: readonly string[];
  /** Attributes of the process that made it. */
  readonly resource: Readonly<Record<string, unknown>>;
}

const kinds: Readonly<Record<number, SeenSpan['kind']>> = {
  1: 'internal',
  2: 'server',
  3: 'client',
};

/** Returns the spans of one request to a collector, its body in JSON. */
export function spansIn(body: string): readonly SeenSpan[] {
  const request = JSON.parse(body) as JsonObject;
  return list(request['resourceSpans']).flatMap((ofResource) => {
    const resource = attributesOf(object(ofResource['resource']));
    return list(ofResource['scopeSpans']).flatMap(({ spans }) =>
      list(spans).map((span) => seen(span, resource)),
    );
  });
}

function seen(span: JsonObject, resource: SeenSpan['resource']): SeenSpan {
  const { code, message } = object(span['status']);
  const errors = list(span['events']).map((event) => {
    const said = attributesOf(event);
    return `${String(said['exception.type'])}: ${String(said['exception.message'])}`;
  });
  return {
    name: text(span['name']),
    kind: kinds[Number(span['kind'])] ?? 'other',
    traceId: text(span['traceId']),
    spanId: text(span['spanId']),
    parentSpanId: text(span['parentSpanId']),
    attributes: attributesOf(span),
    failure: code === 2 ? text(message) : undefined,
    links: list(span['links']).map(({ spanId }) => text(spanId)),
    errors,
    resource,
  };
}

function attributesOf({ attributes }: JsonObject): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    list(attributes).map(({ key, value }) => [text(key), valueOf(object(value))]),
  );
}

function valueOf(value: JsonObject): unknown {
  const { arrayValue, ...scalar } = value;
  if (arrayValue === undefined) return Object.values(scalar)[0];
  return list(object(arrayValue)['values']).map(valueOf);
}

function list(value: JsonValue | undefined): readonly JsonObject[] {
  return (value ?? []) as readonly JsonObject[];
}

function object(value: JsonValue | undefined): JsonObject {
  return (value ?? {}) as JsonObject;
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
