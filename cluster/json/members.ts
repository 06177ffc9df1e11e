import type { JsonArray, JsonObject, JsonValue } from '#base/json.ts';
import { isJsonArray, isJsonObject } from '#base/json.ts';

/** An object without members. */
export const emptyObject: JsonObject = Object.freeze({});
const emptyList: JsonArray = Object.freeze([]);

/** Returns the object at `member`, or undefined. */
export function objectAt(object: JsonObject | undefined, member: string): JsonObject | undefined {
  const value = object?.[member];
  return isJsonObject(value) ? value : undefined;
}

/** Returns the list at `member`; empty when absent. */
export function listAt(object: JsonObject | undefined, member: string): JsonArray {
  const value = object?.[member];
  return isJsonArray(value) ? value : emptyList;
}

/** Returns the string at `member`; empty when absent. */
export function textAt(object: JsonObject | undefined, member: string): string {
  const value = object?.[member];
  return typeof value === 'string' ? value : '';
}

/** Returns the number at `member`; `fallback` when absent. */
export function numberAt(object: JsonObject | undefined, member: string, fallback = 0): number {
  const value = object?.[member];
  return typeof value === 'number' ? value : fallback;
}

/** Returns `object` with those of `defaults` that it lacks; the same object when it lacks none. */
export function withMissing(object: JsonObject, defaults: JsonObject): JsonObject {
  for (const member in defaults) {
    if (object[member] === undefined) return { ...defaults, ...object };
  }
  return object;
}

/** Returns `object` with `member` set; the same object when it has that very value. */
export function withMember(object: JsonObject, member: string, value: JsonValue): JsonObject {
  return object[member] === value ? object : { ...object, [member]: value };
}

/** Returns `object` without `member`; the same object when it has none. */
export function withoutMember(object: JsonObject, member: string): JsonObject {
  if (object[member] === undefined) return object;
  const { [member]: _, ...rest } = object;
  return rest;
}

/** Returns `object` with the object at `member` changed, if it has one; copies only what changes. */
export function mapObjectAt(
  object: JsonObject,
  member: string,
  change: (value: JsonObject) => JsonObject,
): JsonObject {
  const value = object[member];
  return isJsonObject(value) ? withMember(object, member, change(value)) : object;
}

/** Returns `object` with each object in the list at `member` changed; copies only what changes. */
export function mapListAt(
  object: JsonObject,
  member: string,
  change: (element: JsonObject) => JsonObject,
): JsonObject {
  const elements = object[member];
  if (!isJsonArray(elements)) return object;
  let copy: JsonValue[] | undefined;
  for (let i = 0; i < elements.length; i += 1) {
    const element = elements[i];
    if (!isJsonObject(element)) continue;
    const next = change(element);
    if (next === element) continue;
    copy ??= [...elements];
    copy[i] = next;
  }
  return copy === undefined ? object : { ...object, [member]: copy };
}
