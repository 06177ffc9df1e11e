import type { JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import { ownMember, setMember } from '../json/own-member.ts';

/** Returns `target` after a JSON merge patch: null deletes, objects merge, all else replaces (PA-4, RFC 7386). */
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
