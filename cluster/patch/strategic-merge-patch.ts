import type { JsonArray, JsonObject, JsonValue } from '#base/json.ts';
import { isJsonArray, isJsonObject } from '#base/json.ts';
import { badRequest, patchRejected } from '../errors/status-errors.ts';
import { ownMember, setMember } from '../json/own-member.ts';
import type { ListMerge } from '../resource-row.ts';
import { identityOf, inMergeOrder } from './list-order.ts';
import {
  deletePrefix,
  isDirective,
  orderPrefix,
  patchDirective,
  retainKeysDirective,
  withoutDirectives,
} from './merge-directives.ts';

type MergeOf = (path: string) => ListMerge | undefined;
type Members = Record<string, JsonValue | undefined>;

/** A place in the object: its path of member names, and how lists below it merge. */
interface Place {
  readonly path: string;
  readonly mergeOf: MergeOf;
}

/** The two sides of a list that merges, and its wanted order if the patch gives one. */
interface ListPatch {
  readonly live: JsonArray;
  readonly patch: JsonArray;
  readonly order?: JsonArray;
}

/**
 * Returns `object` after a strategic merge patch (PA-5); neither argument is changed and unpatched parts are shared.
 *
 * @param mergeOf how the list at a path of member names merges; undefined means that it is replaced
 * @throws {StatusError} 400 when the patch is malformed, 422 for a `$patch` that is unknown
 */
export function applyStrategicMergePatch(
  object: JsonObject,
  patch: JsonObject,
  mergeOf: MergeOf,
): JsonObject {
  return mergedMap(object, patch, { path: '', mergeOf });
}

function below(place: Place, member: string): Place {
  return { ...place, path: place.path === '' ? member : `${place.path}.${member}` };
}

function mergedMap(live: JsonObject, patch: JsonObject, place: Place): JsonObject {
  const directive = patch[patchDirective];
  if (directive !== undefined && directive !== 'merge') {
    return replacedMap(patch, directive, place);
  }
  const result: Members = retained(live, patch, place);
  for (const member of mergedMembers(patch)) {
    const value = mergedMember(ownMember(result, member), { patch, member }, place);
    if (value === undefined) delete result[member];
    else setMember(result, member, value);
  }
  return result;
}

function replacedMap(patch: JsonObject, directive: JsonValue, place: Place): JsonObject {
  if (directive === 'delete') return {};
  if (directive !== 'replace') {
    throw patchRejected(`unknown $patch ${JSON.stringify(directive)} at "${place.path}"`);
  }
  const content = withoutDirectives(patch);
  return isJsonObject(content) ? content : {};
}

function retained(live: JsonObject, patch: JsonObject, place: Place): Members {
  const keys = patch[retainKeysDirective];
  if (keys === undefined) return { ...live };
  if (!isJsonArray(keys)) throw badPatch('$retainKeys must be a list', place);
  const foreign = Object.keys(patch).find(
    (member) => !isDirective(member) && patch[member] !== null && !keys.includes(member),
  );
  if (foreign !== undefined) throw badPatch(`$retainKeys does not list "${foreign}"`, place);
  return Object.fromEntries(Object.entries(live).filter(([member]) => keys.includes(member)));
}

/** Returns the members that the patch speaks of, be it only by a directive for the list of that name. */
function mergedMembers(patch: JsonObject): ReadonlySet<string> {
  const members = new Set<string>();
  for (const member of Object.keys(patch)) {
    if (member === patchDirective || member === retainKeysDirective) continue;
    if (member.startsWith(orderPrefix)) members.add(member.slice(orderPrefix.length));
    else if (member.startsWith(deletePrefix)) members.add(member.slice(deletePrefix.length));
    else members.add(member);
  }
  return members;
}

function mergedMember(
  live: JsonValue | undefined,
  { patch, member }: { readonly patch: JsonObject; readonly member: string },
  place: Place,
): JsonValue | undefined {
  const at = below(place, member);
  const order = listDirective(patch, `${orderPrefix}${member}`, at);
  const deleted = listDirective(patch, `${deletePrefix}${member}`, at);
  const kept = deleted === undefined ? live : without(live, deleted);
  const value = patch[member];
  if (value === null) return undefined;
  if (value === undefined) return order === undefined ? kept : reordered(kept, order, at);
  return mergedValue(kept, order === undefined ? { value } : { value, order }, at);
}

function listDirective(patch: JsonObject, name: string, place: Place): JsonArray | undefined {
  const list = patch[name];
  if (list === undefined || isJsonArray(list)) return list;
  throw badPatch(`${name} must be a list`, place);
}

function without(live: JsonValue | undefined, deleted: JsonArray): JsonValue | undefined {
  return isJsonArray(live) ? live.filter((element) => !deleted.includes(element)) : live;
}

function reordered(
  live: JsonValue | undefined,
  order: JsonArray,
  place: Place,
): JsonValue | undefined {
  const merge = place.mergeOf(place.path);
  if (!isJsonArray(live) || merge === undefined || merge.kind === 'replace') return live;
  return inMergeOrder(live, { wanted: order, live }, keyOf(merge));
}

function keyOf(merge: ListMerge): string | undefined {
  return merge.kind === 'by-key' ? merge.key : undefined;
}

function mergedValue(
  live: JsonValue | undefined,
  { value, order }: { readonly value: JsonValue; readonly order?: JsonArray },
  place: Place,
): JsonValue | undefined {
  if (isJsonObject(value) && isJsonObject(live)) return mergedOrReplacedMap(live, value, place);
  const merge = isJsonArray(value) ? place.mergeOf(place.path) : undefined;
  if (!isJsonArray(value) || merge === undefined || merge.kind === 'replace') {
    return withoutDirectives(value);
  }
  if (!isJsonArray(live)) return newList(value, order, merge);
  const lists = { live, patch: value };
  return mergedList(order === undefined ? lists : { ...lists, order }, merge, place);
}

function newList(value: JsonArray, order: JsonArray | undefined, merge: ListMerge): JsonArray {
  const content = withoutDirectives(value);
  const list = isJsonArray(content) ? content : [];
  return order === undefined ? list : inMergeOrder(list, { wanted: order, live: [] }, keyOf(merge));
}

function mergedOrReplacedMap(live: JsonObject, value: JsonObject, place: Place): JsonValue {
  if (place.mergeOf(place.path)?.kind === 'replace') return withoutDirectives(value) ?? {};
  return mergedMap(live, value, place);
}

function mergedList({ live, patch, order }: ListPatch, merge: ListMerge, place: Place): JsonArray {
  const key = keyOf(merge);
  const content = patch.filter((element) => directiveOf(element) === undefined);
  if (order !== undefined) checkOrder(content, order, { key, place });
  // What takes a whole list's place is taken as it is, elements of one key included.
  if (patch.some((element) => directiveOf(element) === 'replace')) {
    return newList(content, order, merge);
  }
  const remaining = key === undefined ? live : afterDirectives(live, patch, { key, place });
  const merged =
    key === undefined ? union(remaining, content) : mergedByKey(remaining, content, { key, place });
  return inMergeOrder(merged, { wanted: order ?? content, live }, key);
}

function directiveOf(element: JsonValue): JsonValue | undefined {
  return isJsonObject(element) ? element[patchDirective] : undefined;
}

/** Returns what `$patch` elements leave of the live list: `delete` takes its element out. */
function afterDirectives(
  live: JsonArray,
  patch: JsonArray,
  { key, place }: { readonly key: string; readonly place: Place },
): JsonArray {
  const deleted = new Set<string>();
  for (const element of patch) {
    const directive = directiveOf(element);
    if (directive === undefined) continue;
    if (directive === 'delete') deleted.add(requiredIdentity(element, key, place));
    else throw patchRejected(`unknown $patch ${JSON.stringify(directive)} in "${place.path}"`);
  }
  if (deleted.size === 0) return live;
  return live.filter((element) => !deleted.has(identityOf(element, key) ?? ''));
}

function mergedByKey(
  live: JsonArray,
  patch: JsonArray,
  { key, place }: { readonly key: string; readonly place: Place },
): JsonArray {
  const result = [...live];
  for (const element of patch) {
    const identity = requiredIdentity(element, key, place);
    const index = result.findIndex((other) => identityOf(other, key) === identity);
    const other = result[index];
    if (isJsonObject(other) && isJsonObject(element)) {
      result[index] = mergedMap(other, element, place);
    } else {
      const added = withoutDirectives(element);
      if (added !== undefined) result.push(added);
    }
  }
  return result;
}

function union(live: JsonArray, patch: JsonArray): JsonArray {
  return [...new Set([...live, ...patch])];
}

function requiredIdentity(element: JsonValue, key: string, place: Place): string {
  const identity = identityOf(element, key);
  if (identity === undefined) {
    throw badPatch(`every element must have the merge key "${key}"`, place);
  }
  return identity;
}

/** Refuses a patch that does not list its elements in the order that it asks for. */
function checkOrder(
  content: JsonArray,
  order: JsonArray,
  { key, place }: { readonly key: string | undefined; readonly place: Place },
): void {
  const wanted = order.map((element) => identityOf(element, key));
  let from = 0;
  for (const element of content) {
    const index = wanted.indexOf(identityOf(element, key), from);
    if (index < 0) {
      throw badPatch(`the order of the patch list does not match ${orderPrefix}`, place);
    }
    from = index + 1;
  }
}

function badPatch(why: string, place: Place): Error {
  return badRequest(`error applying patch at "${place.path}": ${why}`);
}
