import type { JsonObject, JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';

type Reader = (object: JsonObject) => string;

/**
 * Returns the readers of field selector labels that are paths of the object itself (OB-14); an absent field reads as
 * `fallback`.
 */
export function fieldLabels(
  paths: readonly string[],
  fallback = '',
): Readonly<Record<string, Reader>> {
  return Object.fromEntries(paths.map((path) => [path, readerOf(path.split('.'), fallback)]));
}

function readerOf(path: readonly string[], fallback: string): Reader {
  return (object) => {
    let value: JsonValue | undefined = object;
    for (const member of path) value = isJsonObject(value) ? value[member] : undefined;
    if (typeof value === 'string') return value;
    return typeof value === 'boolean' || typeof value === 'number' ? String(value) : fallback;
  };
}
