import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { badRequest } from '../errors/status-errors.ts';
import { textField } from '../json/json-fields.ts';
import { parseJson } from '../json/parse-json.ts';
import { decodeProtobuf } from '../protobuf/decode-protobuf.ts';
import type { ResourceView } from '../resource-row.ts';
import { PROTOBUF_TYPE } from './request/api-request.ts';
import { mediaTypeOf } from './request/decode-body.ts';
import { fieldValidationOf } from './request/query.ts';
import type { RowIndex } from './request/row-index.ts';
import type { ApiCall } from './request/server-context.ts';

/**
 * Returns `call` as one on the resource that its row is a view of: from here on only the stored kind is known, and answers
 * are turned back (see Presentation). A call on any other row comes back as it is. @throws {StatusError} 400
 */
export function throughView(rows: RowIndex, call: ApiCall): ApiCall {
  const { row, query } = call.route;
  const { viewOf } = row;
  if (viewOf === undefined) return call;
  const stored = rows.find(viewOf.apiVersion, viewOf.plural);
  if (stored === undefined) return call;
  const route = { ...call.route, row: stored, query: storedQuery(query, viewOf) };
  const request = { ...call.request, ...storedBody(call, viewOf) };
  return { ...call, route, request, shownRow: row };
}

function storedQuery(query: URLSearchParams, view: ResourceView): URLSearchParams {
  const selector = query.get('fieldSelector') ?? '';
  if (selector === '') return query;
  const rewritten = new URLSearchParams(query);
  const terms = selector.split(',').map((term) => {
    const [field = ''] = /^[^=!]*/.exec(term) ?? [];
    return `${view.toStoredPath(field)}${term.slice(field.length)}`;
  });
  rewritten.set('fieldSelector', terms.join(','));
  return rewritten;
}

const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch']);

/** Returns the body in the names of the store, as JSON of the same media type; nothing where there is nothing to turn. */
function storedBody(
  call: ApiCall,
  view: ResourceView,
): Partial<Pick<ApiCall['request'], 'body' | 'headers'>> {
  if (!WRITES.has(call.route.verb)) return {};
  const parsed = parsedBody(call);
  if (isJsonArray(parsed)) {
    return { body: JSON.stringify(parsed.map((step) => storedStep(step, view))) };
  }
  if (!isJsonObject(parsed)) return {};
  const { object, unknown } = view.toStored(parsed);
  noteUnknown(call, unknown);
  const body = JSON.stringify(object);
  if (mediaTypeOf(call) !== PROTOBUF_TYPE) return { body };
  return { body, headers: { ...call.request.headers, 'content-type': 'application/json' } };
}

/** Returns the body as JSON; undefined where it is of a type that is not turned, and that the server itself will refuse. */
function parsedBody(call: ApiCall): JsonValue | undefined {
  const { body } = call.request;
  const type = mediaTypeOf(call);
  if (type.endsWith('json')) return parseJson(body);
  return type === PROTOBUF_TYPE ? decodeProtobuf(Buffer.from(body, 'latin1')) : undefined;
}

/** Returns one operation of a JSON patch. */
function storedStep(step: JsonValue, view: ResourceView): JsonValue {
  if (!isJsonObject(step)) return step;
  const moved: Record<string, JsonValue> = {};
  for (const member of ['path', 'from']) {
    const pointer = textField(step, member);
    if (pointer === '') continue;
    const [, first = '', ...rest] = pointer.split('/');
    moved[member] = ['', view.toStoredPath(first), ...rest].join('/');
  }
  const next: JsonObject = { ...step, ...moved };
  return next;
}

function noteUnknown(call: ApiCall, unknown: readonly string[]): void {
  if (unknown.length === 0) return;
  const problems = unknown.map((name) => `unknown field "${name}"`);
  const mode = fieldValidationOf(call.route.query);
  if (mode === 'Strict') throw badRequest(`strict decoding error: ${problems.join(', ')}`);
  if (mode === 'Warn') call.warnings.push(...problems);
}
