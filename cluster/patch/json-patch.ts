import { isDeepStrictEqual } from 'node:util';
import type { JsonArray, JsonObject, JsonValue } from '#base/json.ts';
import { isJsonArray, isJsonObject } from '#base/json.ts';
import { badRequest, patchRejected, requestTooLarge } from '../errors/status-errors.ts';
import { ownMember, setMember } from '../json/own-member.ts';

const maxOperations = 10_000;

/** What happens at the end of a pointer: the parent with the change made. */
type Change = (parent: JsonObject | JsonArray, key: string) => JsonValue;

/**
 * Returns `document` after the operations of a JSON patch, in order (PA-3, RFC 6902); `document` stays as it is. Parents are
 * not created. A `test` for null also holds where the member is absent, as upstream.
 *
 * @throws {StatusError} 400 when the patch is no list of operations, 413 beyond 10,000 of them, 422 when one does not fit
 */
export function applyJsonPatch(document: JsonValue, patch: JsonValue): JsonValue {
  if (!isJsonArray(patch)) throw badRequest('error decoding patch: must be a JSON array');
  if (patch.length > maxOperations) {
    throw requestTooLarge(
      `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`,
    );
  }
  return patch.reduce((result: JsonValue, operation) => applied(result, operation), document);
}

function applied(document: JsonValue, operation: JsonValue): JsonValue {
  if (!isJsonObject(operation)) {
    throw badRequest('error decoding patch: every operation must be a JSON object');
  }
  const path = pointerOf(operation, 'path');
  switch (operation['op']) {
    case 'add':
      return addAt(document, path, valueOf(operation));
    case 'remove':
      return removeAt(document, path);
    case 'replace':
      return replaceAt(document, path, valueOf(operation));
    case 'test':
      checkTest(document, path, operation['value'] ?? null);
      return document;
    case 'copy':
      return addAt(document, path, valueAt(document, pointerOf(operation, 'from')));
    case 'move':
      return moved(document, pointerOf(operation, 'from'), path);
    default:
      throw patchRejected(`Unexpected kind: ${JSON.stringify(operation['op'])}`);
  }
}

function moved(document: JsonValue, from: readonly string[], path: readonly string[]): JsonValue {
  const isIntoItself = path.length > from.length && from.every((token, i) => token === path[i]);
  if (isIntoItself) throw patchRejected('move: a value cannot move into itself');
  return addAt(removeAt(document, from), path, valueAt(document, from));
}

function valueOf(operation: JsonObject): JsonValue {
  const { op, value } = operation;
  if (value === undefined) throw patchRejected(`${JSON.stringify(op)} operation without "value"`);
  return value;
}

function pointerOf(operation: JsonObject, member: string): readonly string[] {
  const pointer = operation[member];
  if (typeof pointer !== 'string') {
    throw patchRejected(`${JSON.stringify(operation['op'])} operation without "${member}"`);
  }
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) throw patchRejected(`pointer "${pointer}" must begin with "/"`);
  return pointer.slice(1).split('/').map(unescaped);
}

function unescaped(token: string): string {
  return token.includes('~') ? token.replaceAll('~1', '/').replaceAll('~0', '~') : token;
}

function missing(path: readonly string[]): Error {
  return patchRejected(`the path "/${path.join('/')}" does not exist`);
}

function indexOf(list: JsonArray, key: string, limit: number): number {
  const index = /^(?:0|[1-9]\d*)$/.test(key) ? Number(key) : -1;
  if (index < 0 || index >= limit) {
    throw patchRejected(`invalid index "${key}" in a list of ${list.length} elements`);
  }
  return index;
}

/** Returns the child at `key`; undefined where an object does not have it. */
function childAt(parent: JsonValue, key: string): JsonValue | undefined {
  if (isJsonArray(parent)) return parent[indexOf(parent, key, parent.length)];
  return isJsonObject(parent) ? ownMember(parent, key) : undefined;
}

function valueAt(document: JsonValue, path: readonly string[]): JsonValue {
  let value = document;
  for (const key of path) {
    const child = childAt(value, key);
    if (child === undefined) throw missing(path);
    value = child;
  }
  return value;
}

function withChild(parent: JsonObject | JsonArray, key: string, child: JsonValue): JsonValue {
  if (isJsonArray(parent)) return parent.with(indexOf(parent, key, parent.length), child);
  const copy = { ...parent };
  setMember(copy, key, child);
  return copy;
}

/** Copies the parents along `path` and lets `change` act at its end. */
function changed(document: JsonValue, path: readonly string[], change: Change): JsonValue {
  const [key, ...rest] = path;
  if (key === undefined || !(isJsonArray(document) || isJsonObject(document))) throw missing(path);
  if (rest.length === 0) return change(document, key);
  const child = childAt(document, key);
  if (child === undefined) throw missing(path);
  return withChild(document, key, changed(child, rest, change));
}

function addAt(document: JsonValue, path: readonly string[], value: JsonValue): JsonValue {
  if (path.length === 0) return value;
  return changed(document, path, (parent, key) => {
    if (!isJsonArray(parent)) return withChild(parent, key, value);
    const at = key === '-' ? parent.length : indexOf(parent, key, parent.length + 1);
    return parent.toSpliced(at, 0, value);
  });
}

function removeAt(document: JsonValue, path: readonly string[]): JsonValue {
  return changed(document, path, (parent, key) => {
    if (isJsonArray(parent)) return parent.toSpliced(indexOf(parent, key, parent.length), 1);
    if (!Object.hasOwn(parent, key)) throw missing(path);
    const { [key]: _, ...rest } = parent;
    return rest;
  });
}

function replaceAt(document: JsonValue, path: readonly string[], value: JsonValue): JsonValue {
  if (path.length === 0) return value;
  return changed(document, path, (parent, key) => {
    if (childAt(parent, key) === undefined) throw missing(path);
    return withChild(parent, key, value);
  });
}

function checkTest(document: JsonValue, path: readonly string[], wanted: JsonValue): void {
  const parent = valueAt(document, path.slice(0, -1));
  const last = path.at(-1);
  const seen = last === undefined ? parent : (childAt(parent, last) ?? null);
  if (!isDeepStrictEqual(seen, wanted)) {
    throw patchRejected(`testing value /${path.join('/')} failed`);
  }
}
