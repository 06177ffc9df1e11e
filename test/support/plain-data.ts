import assert from 'node:assert/strict';
import { isJsonObject } from '#base/json.ts';

/**
 * Fails unless `value` and all that can be reached from it is plain data: primitives, arrays, objects without a class, and
 * Maps and Sets of such. @param path names `value` in the failure
 */
export function assertPlain(value: unknown, path = 'value'): void {
  for (const [at, part] of partsOf(value, path)) assertPlain(part, at);
}

/** Freezes `value` and all that can be reached from it; a Map or Set throws at a caller that would change it. */
export function deepFreeze<T>(value: T): T {
  for (const [, part] of partsOf(value, 'value')) deepFreeze(part);
  if (value instanceof Map || value instanceof Set) {
    for (const name of ['set', 'add', 'delete', 'clear']) {
      Object.defineProperty(value, name, { value: refuse, configurable: true });
    }
  }
  return Object.freeze(value);
}

function refuse(): never {
  throw new TypeError('Cannot change a frozen collection');
}

type Parts = readonly (readonly [path: string, part: unknown])[];

function partsOf(value: unknown, path: string): Parts {
  assert.notEqual(typeof value, 'function', `${path} is a function`);
  if (typeof value !== 'object' || value === null) return [];
  if (value instanceof Map) {
    const entries: [unknown, unknown][] = [...value];
    return entries.flatMap(([key, part]) => [
      [`key of ${path}`, key] as const,
      [`${path}.get(${String(key)})`, part] as const,
    ]);
  }
  if (value instanceof Set) {
    const members: unknown[] = [...value];
    return members.map((part) => [`member of ${path}`, part] as const);
  }
  if (Array.isArray(value)) {
    const members: unknown[] = value;
    return members.map((part, at) => [`${path}[${at}]`, part] as const);
  }
  const proto: unknown = Object.getPrototypeOf(value);
  assert.ok(proto === Object.prototype || proto === null, `${path} is an instance of a class`);
  return isJsonObject(value)
    ? Object.entries(value).map(([key, part]) => [`${path}.${key}`, part] as const)
    : [];
}
