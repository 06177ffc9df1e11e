import { parse as parseYaml } from 'yaml';
import { errorOf } from '#base/error-of.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { apiVersionOf } from '#kubernetes/resource-type.ts';
import { StatusError } from '../../errors/status-error.ts';
import { badRequest, strictDecodingError } from '../../errors/status-errors.ts';
import { duplicateKeys } from '../../json/duplicate-keys.ts';
import { textField } from '../../json/json-fields.ts';
import { parseJson } from '../../json/parse-json.ts';
import { decodeProtobuf } from '../../protobuf/decode-protobuf.ts';
import { JSON_TYPE, PROTOBUF_TYPE } from './api-request.ts';
import { fieldValidationOf } from './query.ts';
import type { ApiCall } from './server-context.ts';
import { unsupportedMediaType } from './status.ts';

/** Bodies above this many bytes are refused (HT-7). */
const MAXIMUM_BODY = 3 * 1024 * 1024;

/** Refuses a body that is too large. @throws {StatusError} 413 */
export function checkBodySize(body: string): void {
  if (body.length <= MAXIMUM_BODY || Buffer.byteLength(body) <= MAXIMUM_BODY) return;
  throw new StatusError(
    { code: 413, reason: 'RequestEntityTooLarge' },
    `Request entity too large: limit is ${MAXIMUM_BODY}`,
  );
}

/** Returns the media type of the body, without parameters; JSON when none is given. */
export function mediaTypeOf(call: ApiCall): string {
  const given = call.request.headers['content-type'] ?? JSON_TYPE;
  if (given === JSON_TYPE) return given;
  const [type = ''] = given.split(';');
  return type.trim() === '' ? JSON_TYPE : type.trim().toLowerCase();
}

const YAML_TYPES: ReadonlySet<string> = new Set(['application/yaml', 'application/x-yaml']);

/** Returns the body as JSON text: YAML is translated, anything else refused (HT-6). @throws {StatusError} 400, 415 */
function jsonText(call: ApiCall): string {
  const { body } = call.request;
  const type = mediaTypeOf(call);
  if (type === PROTOBUF_TYPE) {
    const object = decodeProtobuf(Buffer.from(body, 'latin1'));
    if (object !== undefined) return JSON.stringify(object);
  }
  if (!YAML_TYPES.has(type)) {
    checkMediaType(call);
    return body;
  }
  try {
    // The aliases of one body are limited by the library: a small text cannot grow without bounds.
    return JSON.stringify(parseYaml(body)) ?? '';
  } catch (error) {
    const why = errorOf(error).message;
    throw badRequest(`the object provided is not valid YAML: ${why}`);
  }
}

function checkMediaType(call: ApiCall): void {
  const type = mediaTypeOf(call);
  if (type === JSON_TYPE) return;
  const hint =
    type === PROTOBUF_TYPE
      ? ' for this kind: set the ContentType of the client to application/json, or give kubectl a manifest'
      : '';
  throw unsupportedMediaType(`${type}${hint}`, [JSON_TYPE, 'application/yaml']);
}

function parseJsonObject(text: string): JsonObject {
  const parsed = parseJson(text);
  if (isJsonObject(parsed)) return parsed;
  throw badRequest('the object provided is unrecognized (must be a JSON object)');
}

/** Returns the body as a JSON object, of whatever kind; an empty body is an empty object. @throws {StatusError} 400, 413, 415 */
export function decodeAnyBody(call: ApiCall): JsonObject {
  const { body } = call.request;
  checkBodySize(body);
  if (body.trim() === '') return {};
  return parseJsonObject(jsonText(call));
}

/** What a body must be. */
export interface ExpectedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Refuses another kind. @throws {StatusError} 400 when `object` says that it is something else */
export function checkKind(object: JsonObject, expected: ExpectedKind): void {
  const apiVersion = textField(object, 'apiVersion');
  const kind = textField(object, 'kind');
  if (apiVersion !== '' && apiVersion !== expected.apiVersion) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected.apiVersion})`,
    );
  }
  if (kind !== '' && kind !== expected.kind) {
    throw badRequest(
      `${kind} in version "${apiVersion}" cannot be handled as a ${expected.kind}: the kind in the data does not match`,
    );
  }
}

/** Drops unknown fields of `object` as the request's fieldValidation says. @throws {StatusError} 400 when it is Strict */
export function dropUnknownFields(
  call: ApiCall,
  object: JsonObject,
  duplicates: readonly string[] = [],
): JsonObject {
  const { row, query } = call.route;
  const decoded = row.decode(object);
  const problems = [
    ...decoded.unknown.map((path) => `unknown field "${path}"`),
    ...duplicates.map((path) => `duplicate field "${path}"`),
  ];
  const mode = fieldValidationOf(query);
  if (problems.length === 0 || mode === 'Ignore') return decoded.object;
  if (mode === 'Strict') {
    throw strictDecodingError(row, { unknown: decoded.unknown, duplicate: duplicates });
  }
  call.warnings.push(...problems);
  return decoded.object;
}

/** Returns the body as an object of the route's kind, unknown fields dropped. @throws {StatusError} 400, 413, 415 */
export function decodeObject(call: ApiCall): JsonObject {
  const object = decodeAnyBody(call);
  const { type } = call.route.row;
  checkKind(object, { apiVersion: apiVersionOf(type), kind: type.kind });
  return dropUnknownFields(call, object, duplicatesIn(call, object));
}

function duplicatesIn(call: ApiCall, object: JsonObject): readonly string[] {
  const { body } = call.request;
  const isJson = mediaTypeOf(call) === JSON_TYPE;
  if (!isJson || fieldValidationOf(call.route.query) === 'Ignore') return [];
  // What comes out as it went in repeats no key. That is so for most clients in JavaScript, and much faster to see.
  return JSON.stringify(object) === body ? [] : duplicateKeys(body);
}
