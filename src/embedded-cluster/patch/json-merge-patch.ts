import type { JsonObject, JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';

/** `target` after a JSON merge patch: null deletes, objects merge, all else replaces (PA-4, RFC 7386). */
export function applyJsonMergePatch(target: JsonValue, patch: JsonValue): JsonValue {
  if (!isJsonObject(patch)) return patch;
  const merged: Record<string, JsonValue | undefined> = isJsonObject(target) ? { ...target } : {};
  for (const [member, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null) {
      delete merged[member];
    } else {
      setMember(merged, member, applyJsonMergePatch(ownMember(merged, member) ?? null, value));
    }
  }
  return merged;
}

/** The own member of `object`; never one of its prototype. */
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
