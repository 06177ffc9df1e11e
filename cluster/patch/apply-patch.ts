/**
 * The patches of Kubernetes, each by its own document. The folder knows values only; who may write what is decided by
 * `rest/`.
 */
import type { JsonObject, JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import { refusalText, serverSideApply } from '../errors/refusals.ts';
import type { StatusError } from '../errors/status-error.ts';
import { badRequest, unsupportedMediaType } from '../errors/status-errors.ts';
import type { ResourceRow } from '../resource-row.ts';
import { applyJsonMergePatch } from './json-merge-patch.ts';
import { applyJsonPatch } from './json-patch.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

/** A PATCH request: `object` is the stored one, `body` the parsed patch. */
export interface PatchRequest {
  /** As in the header; parameters after `;` are ignored (PA-1). */
  readonly contentType: string;
  readonly body: JsonValue;
  readonly object: JsonObject;
  readonly row: ResourceRow;
}

const jsonPatch = 'application/json-patch+json';
const mergePatch = 'application/merge-patch+json';
const strategicMergePatch = 'application/strategic-merge-patch+json';

/** Returns the patch types that `row` accepts, as a 415 lists them; server-side apply is not among them (D-47). */
function acceptedPatchTypes(row: ResourceRow): readonly string[] {
  return row.listMerge === undefined
    ? [jsonPatch, mergePatch]
    : [jsonPatch, mergePatch, strategicMergePatch];
}

/**
 * Returns `object` after the patch (PA-1, PA-3…PA-6); neither argument is changed and unpatched parts are shared. The result
 * is not yet decoded, defaulted or validated, and its resourceVersion is not compared.
 *
 * @throws {StatusError} 415 unknown type, 422 JSON patch that does not fit, 413 too many operations,
 * 400 malformed patch, or a patch that changes name, namespace, kind or apiVersion
 */
export function applyPatch({ contentType, body, object, row }: PatchRequest): JsonObject {
  const patched = patchedBy({ contentType, body, object, row });
  if (!isJsonObject(patched)) throw badRequest('the patched document must be a JSON object');
  checkIdentity(patched, object);
  return patched;
}

/**
 * Refuses patches of another type.
 *
 * @throws {StatusError} 415 when `row` does not accept patches of this type, whatever the object and the patch
 */
export function checkPatchType(contentType: string, row: ResourceRow): void {
  const accepted = acceptedPatchTypes(row);
  const type = typeOf(contentType);
  if (!accepted.includes(type)) throw refusedType(type, accepted);
}

function refusedType(type: string, accepted: readonly string[]): StatusError {
  return type.startsWith('application/apply-patch+')
    ? unsupportedMediaType(accepted, refusalText(serverSideApply))
    : unsupportedMediaType(accepted);
}

function typeOf(contentType: string): string {
  const [type = ''] = contentType.split(';', 1);
  return type.trim().toLowerCase();
}

function patchedBy({ contentType, body, object, row }: PatchRequest): JsonValue {
  const type = typeOf(contentType);
  switch (type) {
    case jsonPatch:
      return applyJsonPatch(object, body);
    case mergePatch:
      return applyJsonMergePatch(object, objectBody(body));
    case strategicMergePatch:
      if (row.listMerge === undefined) throw unsupportedMediaType(acceptedPatchTypes(row));
      return applyStrategicMergePatch(object, objectBody(body), row.listMerge);
    default:
      throw refusedType(type, acceptedPatchTypes(row));
  }
}

function objectBody(body: JsonValue): JsonObject {
  if (isJsonObject(body)) return body;
  throw badRequest(`error decoding patch: must be a JSON object, got ${describe(body)}`);
}

function describe(value: JsonValue): string {
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

/** Refuses a patch of what the URL says of the object (PA-6). */
function checkIdentity(patched: JsonObject, object: JsonObject): void {
  if (patched['kind'] !== object['kind'] || patched['apiVersion'] !== object['apiVersion']) {
    throw badRequest(
      `the patch may not change the kind of the object from ${kindOf(object)} to ${kindOf(patched)}`,
    );
  }
  for (const member of ['name', 'namespace']) {
    const [before, after] = [metadataMember(object, member), metadataMember(patched, member)];
    if (before !== after) {
      throw badRequest(
        `the ${member} of the object (${textOf(after)}) does not match the ${member} on the URL (${textOf(before)})`,
      );
    }
  }
}

function kindOf(object: JsonObject): string {
  return `${textOf(object['apiVersion'])} ${textOf(object['kind'])}`;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

function metadataMember(object: JsonObject, member: string): JsonValue | undefined {
  const { metadata } = object;
  return isJsonObject(metadata) ? metadata[member] : undefined;
}
