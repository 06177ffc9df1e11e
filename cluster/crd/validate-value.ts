import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { Cause } from '../errors/status-error.ts';
import { isSameJson, textsField } from '../json/json-fields.ts';
import { duplicate, invalidValue, notOneOf, required } from '../resource/validation/causes.ts';
import { itemSchema, propertySchema } from './prune.ts';
import { boundCauses, isSized } from './validate-bounds.ts';

/** Returns why `value` breaks `schema`; `path` is where it is, empty for the object itself (CR-3). */
export function validateValue(
  value: JsonValue,
  schema: JsonObject,
  path: string,
): readonly Cause[] {
  if (value === null && schema['nullable'] === true) return [];
  const wrongType = typeCauses(value, schema, path);
  if (wrongType.length > 0) {
    // A fraction is held against the bounds of whole numbers, too.
    const bounds = typeof value === 'number' && isSized(schema['format']);
    return [
      ...wrongType,
      ...(bounds ? boundCauses(value, schema, path) : []),
      ...enumCauses(value, schema, path),
    ];
  }
  return [
    ...enumCauses(value, schema, path),
    ...boundCauses(value, schema, path),
    ...combinationCauses(value, schema, path),
    ...(isJsonObject(value) ? memberCauses(value, schema, path) : []),
    ...(isJsonArray(value) ? elementCauses(value, schema, path) : []),
  ];
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (isJsonArray(value)) return 'array';
  if (Number.isInteger(value)) return 'integer';
  return typeof value;
}

function typeCauses(value: JsonValue, schema: JsonObject, path: string): readonly Cause[] {
  const seen = typeOf(value);
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (seen === 'integer' || seen === 'string') return [];
    return [wrongType(path, seen, 'integer,string')];
  }
  const { type, format } = schema;
  if (typeof type !== 'string' || type === seen) return [];
  if (type === 'number' && seen === 'integer') return [];
  return [type === 'integer' ? noInteger(path, seen, format) : wrongType(path, seen, type)];
}

function noInteger(path: string, seen: string, format: JsonValue | undefined): Cause {
  const goName = goNames.get(seen);
  if (!isSized(format) || goName === undefined) return wrongType(path, seen, 'integer');
  return wrongType(path, goName, format);
}

/** What the server calls types in place of an integer with a size. */
const goNames: ReadonlyMap<string, string> = new Map([
  ['number', 'float64'],
  ['boolean', ''],
]);

function wrongType(path: string, seen: string, wanted: string): Cause {
  return {
    reason: 'FieldValueTypeInvalid',
    message: `Invalid value: "${seen}": ${path} in body must be of type ${wanted}: "${seen}"`,
    field: path,
  };
}

function enumCauses(value: JsonValue, schema: JsonObject, path: string): readonly Cause[] {
  const { enum: allowed } = schema;
  if (!isJsonArray(allowed) || allowed.some((each) => isSameJson(each, value))) return [];
  const texts = allowed.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
  return [notOneOf(path, value, texts)];
}

function schemasAt(schema: JsonObject, member: string): readonly JsonObject[] {
  const list = schema[member];
  return isJsonArray(list) ? list.filter(isJsonObject) : [];
}

function combinationCauses(value: JsonValue, schema: JsonObject, path: string): readonly Cause[] {
  const fits = (part: JsonObject): boolean => validateValue(value, part, path).length === 0;
  const causes = schemasAt(schema, 'allOf').flatMap((part) => validateValue(value, part, path));
  const any = schemasAt(schema, 'anyOf');
  if (any.length > 0 && !any.some(fits)) causes.push(mustFit(path, value, 'anyOf'));
  const one = schemasAt(schema, 'oneOf');
  if (one.length > 0 && one.filter(fits).length !== 1) causes.push(mustFit(path, value, 'oneOf'));
  const { not } = schema;
  if (isJsonObject(not) && fits(not)) causes.push(mustFit(path, value, 'not'));
  return causes;
}

const COMBINATION_RULES = {
  anyOf: 'must validate at least one schema (anyOf)',
  oneOf: 'must validate one and only one schema (oneOf)',
  not: 'must not validate the schema (not)',
} as const;

function mustFit(path: string, value: JsonValue, rule: keyof typeof COMBINATION_RULES): Cause {
  return invalidValue(path, value, `"${path}" ${COMBINATION_RULES[rule]}`);
}

/** Returns the path of a member. */
function below(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function memberCauses(object: JsonObject, schema: JsonObject, path: string): readonly Cause[] {
  const causes: Cause[] = textsField(schema, 'required')
    .filter((name) => object[name] === undefined)
    .map((name) => required(below(path, name)));
  for (const [name, value] of Object.entries(object)) {
    const own = propertySchema(schema, name);
    // The metadata of the object itself have rules of their own.
    if (value === undefined || own === undefined || (path === '' && name === 'metadata')) continue;
    causes.push(...validateValue(value, own, below(path, name)));
  }
  return causes;
}

function elementCauses(
  list: readonly JsonValue[],
  schema: JsonObject,
  path: string,
): readonly Cause[] {
  const items = itemSchema(schema);
  const causes = list.flatMap((element, index) =>
    validateValue(element, items, `${path}[${index}]`),
  );
  const seen = new Map<string, number>();
  for (const [index, element] of list.entries()) {
    const identity = identityOf(element, schema);
    if (identity === undefined) continue;
    const text = JSON.stringify(identity);
    const count = (seen.get(text) ?? 0) + 1;
    // However often it comes, it is reported once.
    if (count === 2) causes.push(duplicate(`${path}[${index}]`, identity));
    seen.set(text, count);
  }
  return causes;
}

/** Returns what may occur once in a set or a map list; undefined for other lists. */
function identityOf(element: JsonValue, schema: JsonObject): JsonValue | undefined {
  const listType = schema['x-kubernetes-list-type'];
  if (listType === 'set') return element;
  if (listType !== 'map' || !isJsonObject(element)) return undefined;
  const keys = textsField(schema, 'x-kubernetes-list-map-keys');
  return Object.fromEntries(keys.map((key) => [key, element[key] ?? null]));
}
