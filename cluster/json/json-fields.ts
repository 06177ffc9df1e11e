import {
  isJsonArray,
  isJsonObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
} from '#base/json.ts';
import { setMember } from './own-member.ts';

const NOTHING: JsonObject = Object.freeze({});

/** Returns the member `name` of `object` where it is an object, else an empty one. */
export function objectField(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isJsonObject(value) ? value : NOTHING;
}

/** Returns the member `name` of `object` where it is a string, else the empty string. */
export function textField(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === 'string' ? value : '';
}

/** Returns the member `name` of `object` where it is a number, else undefined. */
export function numberField(object: JsonObject, name: string): number | undefined {
  const value = object[name];
  return typeof value === 'number' ? value : undefined;
}

/** Returns the member `name` of `object` where it is an array, else an empty one. */
export function arrayField(object: JsonObject, name: string): JsonArray {
  const value = object[name];
  return isJsonArray(value) ? value : [];
}

/** Returns `object.metadata`, empty where there is none. */
export function metadataOf(object: JsonObject): JsonObject {
  return objectField(object, 'metadata');
}

/** Returns the strings among the elements of the array member `name`. */
export function textsField(object: JsonObject, name: string): readonly string[] {
  return arrayField(object, name).filter((value) => typeof value === 'string');
}

/** Returns the string members of the object member `name`, such as labels. */
export function textMapField(object: JsonObject, name: string): Readonly<Record<string, string>> {
  const map: Record<string, string> = {};
  for (const [key, value] of Object.entries(objectField(object, name))) {
    if (typeof value === 'string') map[key] = value;
  }
  return map;
}

/** Returns `object` without the members `names`; `object` itself when it has none of them. */
export function without(object: JsonObject, ...names: readonly string[]): JsonObject {
  if (!names.some((name) => Object.hasOwn(object, name))) return object;
  const rest: Record<string, JsonValue> = {};
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (value !== undefined && !names.includes(name)) setMember(rest, name, value);
  }
  return rest;
}

// In loops that make no array of the members: one object of every write has some twenty nested ones.
function freezeMembers(value: JsonObject | JsonArray): void {
  if (isJsonArray(value)) for (const element of value) freezeJson(element);
  else for (const name in value) freezeJson(value[name]);
}

/** Freezes `value` deeply and returns it; subtrees that are frozen already are not walked again (ST-6). */
export function freezeJson<T extends JsonValue | undefined>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  freezeMembers(value);
  return Object.freeze(value);
}

function isSameArray(a: JsonArray, b: JsonArray): boolean {
  return a.length === b.length && a.every((value, i) => isSameJson(value, b[i]));
}

function isSameObject(a: JsonObject, b: JsonObject): boolean {
  let members = 0;
  for (const name in a) {
    if (a[name] === undefined) continue;
    members += 1;
    if (!isSameJson(a[name], b[name])) return false;
  }
  for (const name in b) if (b[name] !== undefined) members -= 1;
  return members === 0;
}

/** Reports deep equality; the order of members does not matter and an undefined member counts as absent. */
export function isSameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (isJsonArray(a) && isJsonArray(b)) return isSameArray(a, b);
  return isJsonObject(a) && isJsonObject(b) && isSameObject(a, b);
}
