import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';

/** Returns the member at `path`, or undefined where a step is missing or is not an object. */
function valueAt(from: JsonValue | undefined, ...path: string[]): JsonValue | undefined {
  let value = from;
  for (const step of path) {
    if (!isJsonObject(value)) return undefined;
    value = value[step];
  }
  return value;
}

/** Returns the text at `path`; empty when there is none. */
export function textAt(from: JsonValue | undefined, ...path: string[]): string {
  const value = valueAt(from, ...path);
  return typeof value === 'string' ? value : '';
}

/** Returns the number at `path`, or undefined. */
export function numberAt(from: JsonValue | undefined, ...path: string[]): number | undefined {
  const value = valueAt(from, ...path);
  return typeof value === 'number' ? value : undefined;
}

/** Returns the object at `path`; empty when there is none. */
export function objectAt(from: JsonValue | undefined, ...path: string[]): JsonObject {
  const value = valueAt(from, ...path);
  return isJsonObject(value) ? value : {};
}

/** Returns the objects in the list at `path`; anything else in it is left out. */
export function objectsAt(from: JsonValue | undefined, ...path: string[]): readonly JsonObject[] {
  const value = valueAt(from, ...path);
  return Array.isArray(value) ? value.filter((item) => isJsonObject(item)) : [];
}

/** Returns the texts in the list at `path`; anything else in it is left out. */
export function textsAt(from: JsonValue | undefined, ...path: string[]): readonly string[] {
  const value = valueAt(from, ...path);
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Returns the members of the object at `path` whose values are text: labels, annotations, node selectors. */
export function textMapAt(
  from: JsonValue | undefined,
  ...path: string[]
): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const [key, value] of Object.entries(objectAt(from, ...path))) {
    if (typeof value === 'string') texts[key] = value;
  }
  return texts;
}

/** Returns `value` with the members of all its objects sorted, without white space: equal data, equal text. */
export function canonicalJson(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value ?? null);
  const members: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`);
  }
  return `{${members.join(',')}}`;
}
