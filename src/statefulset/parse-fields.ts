import { isJsonObject, type JsonArray, type JsonObject, type JsonValue } from '#base/json.ts';
import { type Instant, instant } from '#base/units.ts';

const EMPTY: JsonObject = Object.freeze({});

/** Returns the object member `name`; an empty object when it is absent or something else. */
export function objectAt(parent: JsonObject, name: string): JsonObject {
  const value = parent[name];
  return isJsonObject(value) ? value : EMPTY;
}

/** Returns the array member `name`; empty when it is absent or something else. */
export function arrayAt(parent: JsonObject, name: string): JsonArray {
  const value = parent[name];
  return Array.isArray(value) ? (value as JsonArray) : [];
}

/** Returns the string member `name`; undefined when it is absent or something else. */
export function stringAt(parent: JsonObject, name: string): string | undefined {
  const value = parent[name];
  return typeof value === 'string' ? value : undefined;
}

/** Returns the integer member `name`; undefined when it is absent or something else. */
export function integerAt(parent: JsonObject, name: string): number | undefined {
  const value = parent[name];
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}

/** Returns the RFC 3339 member `name`; undefined when it is absent or no time. */
export function instantAt(parent: JsonObject, name: string): Instant | undefined {
  const text = stringAt(parent, name);
  const parsed = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(parsed) ? undefined : instant(parsed);
}

/** Returns the string members of the map `name` whose key `keep` accepts; frozen. */
export function stringMapAt(
  parent: JsonObject,
  name: string,
  keep: (key: string) => boolean = () => true,
): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(objectAt(parent, name))) {
    if (typeof value === 'string' && keep(key)) kept[key] = value;
  }
  return Object.freeze(kept);
}

/** What distinguishes one state of one object from all others. */
interface Identity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Returns whose `metadata` it is, and of which version; what is absent is empty. */
export function identityIn(metadata: JsonObject): Identity {
  return {
    namespace: stringAt(metadata, 'namespace') ?? '',
    name: stringAt(metadata, 'name') ?? '',
    uid: stringAt(metadata, 'uid') ?? '',
    resourceVersion: stringAt(metadata, 'resourceVersion') ?? '',
  };
}

/** Returns the strings among `values`; anything else is left out. */
export function stringsIn(values: readonly JsonValue[]): readonly string[] {
  return values.filter((each) => typeof each === 'string');
}

/** Returns the object members of `values`; anything else is left out. */
export function objectsIn(values: readonly JsonValue[]): readonly JsonObject[] {
  return values.filter(isJsonObject);
}

/** Returns the condition `type` of the `status` of an object; undefined when it has none. */
export function conditionOf(status: JsonObject, type: string): JsonObject | undefined {
  const conditions = objectsIn(arrayAt(status, 'conditions'));
  return conditions.find((condition) => condition['type'] === type);
}

/** Returns the uid of the controlling owner; undefined where no owner reference has `controller: true`. */
export function controllerUidOf(metadata: JsonObject): string | undefined {
  const controller = controllerIn(metadata);
  return controller && stringAt(controller, 'uid');
}

/** Returns the owner reference of the controlling owner; undefined where there is none. */
export function controllerIn(metadata: JsonObject): JsonObject | undefined {
  const owners = objectsIn(arrayAt(metadata, 'ownerReferences'));
  return owners.find((owner) => owner['controller'] === true);
}
