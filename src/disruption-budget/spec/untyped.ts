import { isJsonArray, isJsonObject, type JsonValue } from '#base/json.ts';

/**
 * JSON as Go's Kubernetes libraries hold it: an integer of 64 bits is a `bigint`, any other number a `number`, so that
 * `1` and `1.0` are distinguished.
 */
export type Untyped =
  | null
  | boolean
  | bigint
  | number
  | string
  | readonly Untyped[]
  | UntypedObject;

/** An object of {@link Untyped} members; an absent one is `undefined`. */
export interface UntypedObject {
  readonly [member: string]: Untyped | undefined;
}

const mostInteger = 2n ** 63n - 1n;
const leastInteger = -(2n ** 63n);

/** Returns the number that is in JSON as `source`. */
export function untypedNumber(source: string): bigint | number {
  if (!/^-?\d{1,19}$/.test(source)) return Number(source);
  const integer = BigInt(source);
  return integer >= leastInteger && integer <= mostInteger ? integer : Number(source);
}

/**
 * Returns `value` as it came from an API server, whose JSON was read without the text of its numbers: an integral one counts
 * as an integer, as a server writes none of type integer with a fraction.
 */
export function untypedOf(value: JsonValue): Untyped {
  if (typeof value === 'number') return untypedNumber(String(value));
  if (isJsonArray(value)) return value.map(untypedOf);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      member === undefined ? [] : [[name, untypedOf(member)] as const],
    ),
  );
}

/** Reports whether `value` is an object, which Go calls a map. */
export function isUntypedObject(value: Untyped | undefined): value is UntypedObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the type of `value` as Go's `%T` prints it. */
export function goType(value: Untyped): string {
  switch (typeof value) {
    case 'bigint':
      return 'int64';
    case 'number':
      return 'float64';
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    default:
      if (value === null) return '<nil>';
      return isUntypedObject(value) ? 'map[string]interface {}' : '[]interface {}';
  }
}

/** Returns `value` as Go's `%v` prints it: the members of an object by their names. */
export function goText(value: Untyped): string {
  if (value === null) return '<nil>';
  if (typeof value === 'number') return goNumber(value);
  if (typeof value !== 'object') return String(value);
  if (!isUntypedObject(value)) return `[${value.map(goText).join(' ')}]`;
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `map[${members.map(([name, member]) => `${name}:${goText(member ?? null)}`).join(' ')}]`;
}

/** The first power of ten that Go writes with an exponent, and the last small one that it writes without. */
const firstLarge = 6;
const lastSmall = -4;

function goNumber(value: number): string {
  if (Object.is(value, -0)) return '-0';
  const [digits = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= lastSmall && exponent < firstLarge) return String(value);
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
