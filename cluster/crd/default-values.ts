import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { itemSchema, propertySchema } from './prune.ts';

/** Returns `value` without nulls where the schema does not allow them, and with its defaults (CR-2). */
export function withDefaults(value: JsonValue, schema: JsonObject): JsonValue {
  if (isJsonArray(value)) {
    const items = itemSchema(schema);
    return value.map((element) => withDefaults(element, items));
  }
  return isJsonObject(value) ? objectWithDefaults(value, schema) : value;
}

/** Returns the same as {@link withDefaults}, for an object. */
export function objectWithDefaults(object: JsonObject, schema: JsonObject): JsonObject {
  const members: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(object)) {
    const own = propertySchema(schema, name);
    if (value === undefined || isDropped(value, own)) continue;
    members[name] = own === undefined ? value : withDefaults(value, own);
  }
  for (const [name, own] of Object.entries(propertiesOf(schema))) {
    if (members[name] !== undefined || !isJsonObject(own) || own['default'] === undefined) continue;
    members[name] = withDefaults(own['default'], own);
  }
  return members;
}

function isDropped(value: JsonValue, own: JsonObject | undefined): boolean {
  return value === null && own !== undefined && own['nullable'] !== true;
}

function propertiesOf(schema: JsonObject): JsonObject {
  const { properties } = schema;
  return isJsonObject(properties) ? properties : {};
}
