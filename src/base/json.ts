/** Any JSON value, deeply read-only. */
export type JsonValue = null | boolean | number | string | JsonArray | JsonObject;

/** A JSON array, deeply read-only. */
export type JsonArray = readonly JsonValue[];

/** A JSON object, deeply read-only; an absent member is `undefined`, never a stored value. */
export interface JsonObject {
  readonly [member: string]: JsonValue | undefined;
}

/** Reports whether `value` is a JSON object (neither null, nor an array). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reports whether `value` is a JSON array. */
export function isJsonArray(value: unknown): value is JsonArray {
  return Array.isArray(value);
}

/** Whether both are the same once they are stored: members that are undefined are none. */
export function isSameJson(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (one === other) return true;
  if (isJsonArray(one)) {
    if (!isJsonArray(other) || one.length !== other.length) return false;
    return one.every((each, at) => isSameJson(each, other[at]));
  }
  if (!isJsonObject(one) || !isJsonObject(other)) return false;
  return (
    Object.keys(one).every((key) => isSameJson(one[key], other[key])) &&
    Object.keys(other).every((key) => other[key] === undefined || one[key] !== undefined)
  );
}

/** Returns the JSON value that `text` holds; undefined where it holds none, for callers who need not know why. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // That there is none is the answer.
    return undefined;
  }
}
