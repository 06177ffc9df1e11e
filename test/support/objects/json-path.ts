import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';

/** Returns the value at `path`, member by member; undefined where any step is absent or no object. */
export function valueAt(object: JsonObject, ...path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = object;
  for (const member of path) {
    if (!isJsonObject(value)) return undefined;
    value = value[member];
  }
  return value;
}

/** Returns the text at `path`; undefined when it is absent or no text. */
export function textAt(object: JsonObject, ...path: readonly string[]): string | undefined {
  const value = valueAt(object, ...path);
  return typeof value === 'string' ? value : undefined;
}

/** Returns the number at `path`; undefined when it is absent or no number. */
export function numberAt(object: JsonObject, ...path: readonly string[]): number | undefined {
  const value = valueAt(object, ...path);
  return typeof value === 'number' ? value : undefined;
}

/** Returns the objects of the list at `path`, in order; empty when there is no such list. */
export function objectsAt(object: JsonObject, ...path: readonly string[]): readonly JsonObject[] {
  const value = valueAt(object, ...path);
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
