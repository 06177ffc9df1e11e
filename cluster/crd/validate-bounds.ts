import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { Cause } from '../errors/status-error.ts';
import { invalidValue, tooLong, tooMany } from '../resource/validation/causes.ts';
import { compilePattern } from '../schema/compile-pattern.ts';

/** Returns why a value breaks the bounds of its schema: size, number, pattern or format (CR-3). */
export function boundCauses(value: JsonValue, schema: JsonObject, path: string): readonly Cause[] {
  if (typeof value === 'number') {
    const faults = causesOf(value, path, numberFaults(value, schema));
    return [...unsizedCauses(value, schema, path), ...faults];
  }
  if (typeof value === 'string') return textCauses(value, schema, path);
  if (isJsonArray(value)) {
    return sizeCauses(value, { schema, path, size: value.length, what: 'Items' });
  }
  if (!isJsonObject(value)) return [];
  const size = Object.keys(value).length;
  return sizeCauses(value, { schema, path, size, what: 'Properties' });
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

/** Whether integers of that format have a size. */
export function isSized(format: JsonValue | undefined): format is string {
  return format === 'int32' || format === 'int64';
}

/** A number that its format has no place for; the server names the field in the message alone. */
function unsizedCauses(value: number, schema: JsonObject, path: string): readonly Cause[] {
  const { format } = schema;
  const isInRange = format !== 'int32' || (value >= -INT32 && value < INT32);
  if (!isSized(format) || (Number.isInteger(value) && isInRange)) return [];
  const detail = `Checked value must be of type integer with format ${format} in ${path}`;
  return [invalidValue('<nil>', '', detail)];
}

/** Of length and pattern the first that is broken is reported, and the format in addition. */
function textCauses(value: string, schema: JsonObject, path: string): readonly Cause[] {
  const maximum = bound(schema, 'maxLength');
  const faults = formatFaults(value, schema);
  if (maximum !== undefined && codePoints(value) > maximum) {
    // The limit counts characters; bytes are what the server calls them.
    return [tooLong(path, maximum), ...causesOf(value, path, faults)];
  }
  return causesOf(value, path, [...textFaults(value, schema), ...faults]);
}

function textFaults(value: string, schema: JsonObject): readonly string[] {
  const minimum = bound(schema, 'minLength');
  if (minimum !== undefined && codePoints(value) < minimum) {
    return [`should be at least ${minimum} chars long`];
  }
  const { pattern } = schema;
  // A definition with a pattern that cannot be read was refused.
  const isUnmatched = typeof pattern === 'string' && compilePattern(pattern)?.test(value) === false;
  return isUnmatched ? [`should match '${pattern}'`] : [];
}

function formatFaults(value: string, { format }: JsonObject): readonly string[] {
  const isFormed = typeof format !== 'string' || FORMATS.get(format)?.test(value) !== false;
  return isFormed ? [] : [`must be of type ${format}`];
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

function sizeCauses(
  value: JsonValue,
  {
    schema,
    path,
    size,
    what,
  }: {
    readonly schema: JsonObject;
    readonly path: string;
    readonly size: number;
    readonly what: 'Items' | 'Properties';
  },
): readonly Cause[] {
  const [minimum, maximum] = [bound(schema, `min${what}`), bound(schema, `max${what}`)];
  const isTooSmall = minimum !== undefined && size < minimum;
  const fault = `should have at least ${minimum} ${what.toLowerCase()}`;
  return [
    ...causesOf(value, path, isTooSmall ? [fault] : []),
    ...(maximum !== undefined && size > maximum ? [tooMany(path, size, maximum)] : []),
  ];
}
