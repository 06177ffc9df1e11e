import type { JsonObject, JsonValue } from '#base/json.ts';

/** Returns the own member of `object`; never one of its prototype. */
export function ownMember(object: JsonObject, member: string): JsonValue | undefined {
  return Object.hasOwn(object, member) ? object[member] : undefined;
}

/** Sets an own member, also where its name is `__proto__`, as JSON.parse does. */
export function setMember(
  object: Record<string, JsonValue | undefined>,
  member: string,
  value: JsonValue,
): void {
  if (member === '__proto__') {
    Object.defineProperty(object, member, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else {
    object[member] = value;
  }
}
