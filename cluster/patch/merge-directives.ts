import type { JsonArray, JsonObject, JsonValue } from '#base/json.ts';
import { isJsonArray, isJsonObject } from '#base/json.ts';
import { setMember } from '../json/own-member.ts';

/** Member of a map, or of a list element, that says how the patch is meant: `merge`, `replace` or `delete`. */
export const patchDirective = '$patch';
/** Member of a map: the only members that survive. */
export const retainKeysDirective = '$retainKeys';
/** Prefix of a member: the wanted order of the list that follows. */
export const orderPrefix = '$setElementOrder/';
/** Prefix of a member: elements to take out of the set that follows. */
export const deletePrefix = '$deleteFromPrimitiveList/';

/** Reports whether a member of a patch is a directive, not content. */
export function isDirective(member: string): boolean {
  return (
    member === patchDirective ||
    member === retainKeysDirective ||
    member.startsWith(orderPrefix) ||
    member.startsWith(deletePrefix)
  );
}

/**
 * Returns a part of a patch as content, where the object has nothing to merge with: directives and null members are gone.
 * Undefined when it asks for its own deletion.
 */
export function withoutDirectives(patch: JsonValue): JsonValue | undefined {
  if (isJsonArray(patch)) return listWithoutDirectives(patch);
  return isJsonObject(patch) ? mapWithoutDirectives(patch) : patch;
}

function listWithoutDirectives(patch: JsonArray): JsonArray {
  // An element that holds nothing but a directive, such as {$patch: replace}, is no element.
  return patch
    .filter((element) => !isBareDirective(element))
    .map(withoutDirectives)
    .filter((element) => element !== undefined);
}

function isBareDirective(element: JsonValue): boolean {
  if (!isJsonObject(element)) return false;
  const members = Object.keys(element);
  return members.length === 1 && members[0] === patchDirective;
}

function mapWithoutDirectives(patch: JsonObject): JsonObject | undefined {
  if (patch[patchDirective] === 'delete') return undefined;
  const content: Record<string, JsonValue> = {};
  for (const [member, value] of Object.entries(patch)) {
    if (value === null || value === undefined || isDirective(member)) continue;
    const kept = withoutDirectives(value);
    if (kept !== undefined) setMember(content, member, kept);
  }
  return content;
}
