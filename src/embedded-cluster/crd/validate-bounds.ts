import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { invalidValue } from '#embedded-cluster/resource/causes.ts';
import type { Cause } from '#embedded-cluster/status-error.ts';
import { compilePattern } from './compile-pattern.ts';

/** Returns why a value breaks the bounds of its schema: size, number, pattern or format (CR-3). */
export function boundCauses(value: JsonValue, schema: JsonObject, path: string): readonly Cause[] {
  if (typeof value === 'number') return causesOf(value, path, numberFaults(value, schema));
  if (typeof value === 'string') return causesOf(value, path, textFaults(value, schema));
  if (isJsonArray(value)) {
    return causesOf(value, path, sizeFaults(value.length, schema, 'Items'));
  }
  if (!isJsonObject(value)) return [];
  return causesOf(value, path, sizeFaults(Object.keys(value).length, schema, 'Properties'));
}

function causesOf(value: JsonValue, path: string, faults: readonly string[]): readonly Cause[] {
  return faults.map((fault) => invalidValue(path, value, `${path} in body ${fault}`));
}

function bound(schema: JsonObject, name: string): number | undefined {
  const value = schema[name];
  return typeof value === 'number' ? value : undefined;
}

function numberFaults(value: number, schema: JsonObject): readonly string[] {
  const step = bound(schema, 'multipleOf');
  return [
    ...limitFaults(value, schema, 'minimum'),
    ...limitFaults(value, schema, 'maximum'),
    ...(step !== undefined && value % step !== 0 ? [`should be a multiple of ${step}`] : []),
    ...integerFaults(value, schema),
  ];
}

const LIMITS = {
  minimum: { exclusive: 'exclusiveMinimum', side: 1, word: 'greater' },
  maximum: { exclusive: 'exclusiveMaximum', side: -1, word: 'less' },
} as const;

function limitFaults(
  value: number,
  schema: JsonObject,
  name: keyof typeof LIMITS,
): readonly string[] {
  const limit = bound(schema, name);
  if (limit === undefined) return [];
  const { exclusive, side, word } = LIMITS[name];
  const isExclusive = schema[exclusive] === true;
  const distance = (value - limit) * side;
  if (distance > 0 || (distance === 0 && !isExclusive)) return [];
  return [`should be ${word} than ${isExclusive ? '' : 'or equal to '}${limit}`];
}

const INT32 = 2 ** 31;

function integerFaults(value: number, schema: JsonObject): readonly string[] {
  if (schema['format'] !== 'int32' || (value >= -INT32 && value < INT32)) return [];
  return ['must be of type integer with format int32'];
}

function textFaults(value: string, schema: JsonObject): readonly string[] {
  const { pattern, format } = schema;
  const faults = [...lengthFaults(value, schema)];
  // A definition with a pattern that cannot be read was refused.
  if (typeof pattern === 'string' && compilePattern(pattern)?.test(value) === false) {
    faults.push(`should match '${pattern}'`);
  }
  if (typeof format === 'string' && FORMATS.get(format)?.test(value) === false) {
    faults.push(`must be of type ${format}`);
  }
  return faults;
}

function lengthFaults(value: string, schema: JsonObject): readonly string[] {
  const [minimum, maximum] = [bound(schema, 'minLength'), bound(schema, 'maxLength')];
  const length = codePoints(value);
  if (minimum !== undefined && length < minimum)
    return [`should be at least ${minimum} chars long`];
  if (maximum === undefined || length <= maximum) return [];
  return [`should be at most ${maximum} chars long`];
}

function codePoints(value: string): number {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}

const FORMATS: ReadonlyMap<string, RegExp> = new Map([
  ['date-time', /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/],
  [
    'duration',
    /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h)(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))*$/,
  ],
]);

function sizeFaults(size: number, schema: JsonObject, what: string): readonly string[] {
  const faults: string[] = [];
  const [minimum, maximum] = [bound(schema, `min${what}`), bound(schema, `max${what}`)];
  const noun = what.toLowerCase();
  if (minimum !== undefined && size < minimum) {
    faults.push(`should have at least ${minimum} ${noun}`);
  }
  if (maximum !== undefined && size > maximum) {
    faults.push(`should have at most ${maximum} ${noun}`);
  }
  return faults;
}
