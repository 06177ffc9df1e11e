import type { JsonArray, JsonObject, JsonValue } from '#base/json.ts';
import { isJsonArray, isJsonObject } from '#base/json.ts';

/** Whether two JSON values are deeply equal; a member that is undefined counts as absent, order of members does not count. */
export function jsonEqual(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (isJsonArray(a)) return isJsonArray(b) && listsEqual(a, b);
  return isJsonObject(a) && isJsonObject(b) && objectsEqual(a, b);
}

function listsEqual(a: JsonArray, b: JsonArray): boolean {
  return a.length === b.length && a.every((element, i) => jsonEqual(element, b[i]));
}

function objectsEqual(a: JsonObject, b: JsonObject): boolean {
  for (const member of Object.keys(a)) {
    if (!jsonEqual(a[member], own(b, member))) return false;
  }
  return Object.keys(b).every((member) => b[member] === undefined || Object.hasOwn(a, member));
}

function own(object: JsonObject, member: string): JsonValue | undefined {
  return Object.hasOwn(object, member) ? object[member] : undefined;
}
