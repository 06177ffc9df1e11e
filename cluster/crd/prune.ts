import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { Trail } from '../schema/trail.ts';

/** Members that every object has, whatever its schema says. */
const OBJECT_MEMBERS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

function memberSchema(schema: JsonObject, name: string): JsonObject | undefined {
  const { properties, additionalProperties } = schema;
  const own =
    isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (isJsonObject(own)) return own;
  if (additionalProperties === true) return KEEP_ALL;
  return isJsonObject(additionalProperties) ? additionalProperties : undefined;
}

const KEEP_ALL: JsonObject = Object.freeze({ 'x-kubernetes-preserve-unknown-fields': true });

/** Returns the schema of the elements of a list. */
export function itemSchema(schema: JsonObject): JsonObject {
  return isJsonObject(schema['items']) ? schema['items'] : KEEP_ALL;
}

/** Returns the schema of the member `name`, where there is one. */
export function propertySchema(schema: JsonObject, name: string): JsonObject | undefined {
  return memberSchema(schema, name);
}

/** Returns `object` without the members that `schema` does not have, and their paths (CR-2). */
export function pruneObject(
  object: JsonObject,
  schema: JsonObject,
): { readonly object: JsonObject; readonly unknown: readonly string[] } {
  const trail = new Trail();
  const pruned = pruneMembers(object, schema, { trail, isResource: true });
  return { object: pruned, unknown: trail.unknown };
}

interface Place {
  readonly trail: Trail;
  /** Whether this is a whole object with metadata. */
  readonly isResource: boolean;
}

function pruneValue(value: JsonValue, schema: JsonObject, trail: Trail): JsonValue {
  if (isJsonArray(value)) {
    const items = itemSchema(schema);
    return value.map((element, index) => {
      trail.enter(index);
      const pruned = pruneValue(element, items, trail);
      trail.leave();
      return pruned;
    });
  }
  if (!isJsonObject(value)) return value;
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  return pruneMembers(value, schema, { trail, isResource });
}

function pruneMembers(object: JsonObject, schema: JsonObject, place: Place): JsonObject {
  const { trail, isResource } = place;
  const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const kept: [string, JsonValue][] = [];
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue;
    const own = memberSchema(schema, name);
    if (own === undefined || (isResource && OBJECT_MEMBERS.has(name))) {
      if (keepsUnknown || (isResource && OBJECT_MEMBERS.has(name))) kept.push([name, value]);
      else trail.noteUnknown(name);
      continue;
    }
    trail.enter(name);
    kept.push([name, pruneValue(value, own, trail)]);
    trail.leave();
  }
  return Object.fromEntries(kept);
}
