import type { JsonArray, JsonObject, JsonValue } from '#base/json.ts';
import { isJsonArray, isJsonObject } from '#base/json.ts';
import { setMember } from '../json/own-member.ts';
import type { FieldSchema, LeafKind, LeafSchema, ListSchema } from './field-schema.ts';
import { canonicalQuantity } from './quantity.ts';
import type { Trail } from './trail.ts';

/**
 * Decodes one value: the value itself when nothing had to change, a new one without its unknown parts, or undefined
 * when it counts as absent. Never called with null, which is absent everywhere.
 *
 * @throws {DecodeError} when the value has the wrong JSON type
 */
export type Decode = (value: JsonValue, at: Trail) => JsonValue | undefined;

type Members = Record<string, JsonValue>;

/** Returns the decoder of `schema` as closures: one pass, allocating only where something changes (OB-13). */
export function compileDecoder(schema: FieldSchema): Decode {
  switch (schema.kind) {
    case 'object':
      return objectDecoder(schema.fields);
    case 'list':
      return listDecoder(schema);
    case 'map':
      return mapDecoder(compileDecoder(schema.of), zeroOf(schema.of));
    default:
      return leafDecoder(schema);
  }
}

function objectDecoder(fields: Readonly<Record<string, FieldSchema>>): Decode {
  const decoders = new Map(
    Object.entries(fields).map(([member, schema]) => [member, compileDecoder(schema)]),
  );
  const decodeMember = (member: string, old: JsonValue, at: Trail): JsonValue | undefined => {
    const decode = decoders.get(member);
    if (decode === undefined) {
      at.noteUnknown(member);
      return undefined;
    }
    if (old === null) return undefined;
    at.enter(member);
    const next = decode(old, at);
    at.leave();
    return next;
  };
  return (value, at) =>
    isJsonObject(value) ? withMembers(value, at, decodeMember) : at.mismatch(value, 'object');
}

function mapDecoder(decode: Decode, zero: JsonValue): Decode {
  const decodeEntry = (key: string, old: JsonValue, at: Trail): JsonValue => {
    if (old === null) return zero;
    at.enter(key);
    const next = decode(old, at);
    at.leave();
    return next ?? zero;
  };
  return (value, at) => {
    if (!isJsonObject(value)) return at.mismatch(value, 'map');
    const result = withMembers(value, at, decodeEntry);
    for (const _ in result) return result;
    return undefined;
  };
}

/** Returns `value` with each member decoded; copied from the first change on. */
function withMembers(
  value: JsonObject,
  at: Trail,
  decode: (member: string, old: JsonValue, at: Trail) => JsonValue | undefined,
): JsonObject {
  let copy: Members | undefined;
  const members = Object.keys(value);
  for (let i = 0; i < members.length; i += 1) {
    const member = members[i] ?? '';
    const old = value[member];
    const next = old === undefined ? undefined : decode(member, old, at);
    if (copy === undefined && next !== old) copy = firstMembers(value, members, i);
    if (copy !== undefined && next !== undefined) setMember(copy, member, next);
  }
  return copy ?? value;
}

function firstMembers(value: JsonObject, members: readonly string[], count: number): Members {
  const copy: Members = {};
  for (let i = 0; i < count; i += 1) {
    const member = members[i] ?? '';
    const old = value[member];
    if (old !== undefined) setMember(copy, member, old);
  }
  return copy;
}

function listDecoder({ of, keepsZero }: ListSchema): Decode {
  const decode = compileDecoder(of);
  const zero = zeroOf(of);
  return (value, at) => {
    if (!isJsonArray(value)) return at.mismatch(value, 'array');
    if (value.length === 0) return keepsZero ? value : undefined;
    return withElements(value, at, { decode, zero });
  };
}

function withElements(
  value: JsonArray,
  at: Trail,
  { decode, zero }: { readonly decode: Decode; readonly zero: JsonValue },
): JsonArray {
  let copy: JsonValue[] | undefined;
  for (let i = 0; i < value.length; i += 1) {
    const old = value[i] ?? null;
    at.enter(i);
    const next = old === null ? zero : (decode(old, at) ?? zero);
    at.leave();
    if (next === old) continue;
    copy ??= [...value];
    copy[i] = next;
  }
  return copy ?? value;
}

/** Returns what null stands for as an element of a list or a map. */
function zeroOf(schema: FieldSchema): JsonValue {
  switch (schema.kind) {
    case 'object':
    case 'map':
      return {};
    case 'list':
      return [];
    case 'int':
    case 'int-or-string':
      return 0;
    case 'bool':
      return false;
    case 'quantity':
      return '0';
    default:
      return schema.kind === 'json' ? null : '';
  }
}

function leafDecoder({ kind, keepsZero }: LeafSchema): Decode {
  const decode = leafDecoders[kind];
  if (keepsZero) return decode;
  return (value, at) => {
    const next = decode(value, at);
    return next === '' || next === 0 || next === false ? undefined : next;
  };
}

const decodeText: Decode = (value, at) =>
  typeof value === 'string' ? value : at.mismatch(value, 'string');

const decodeBytes: Decode = (value, at) => {
  if (typeof value !== 'string') return at.mismatch(value, 'string');
  const isBase64 = value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
  return isBase64 ? value : at.mismatch(value, 'base64 bytes');
};

const decodeTime: Decode = (value, at) => {
  if (typeof value !== 'string') return at.mismatch(value, 'string');
  if (value === '' || /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(value)) {
    return value;
  }
  return at.mismatch(value, 'RFC 3339 time');
};

const decodeMicroTime: Decode = (value, at) => {
  if (typeof value !== 'string') return at.mismatch(value, 'string');
  const isWhole = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(?:Z|[+-]\d\d:\d\d)$/.test(value);
  return isWhole ? value : at.mismatch(value, 'RFC 3339 time with six digits of a fraction');
};

const leafDecoders: Readonly<Record<LeafKind, Decode>> = {
  text: decodeText,
  bytes: decodeBytes,
  time: decodeTime,
  'micro-time': decodeMicroTime,
  json: (value) => value,
  ignored: () => undefined,
  bool: (value, at) => (typeof value === 'boolean' ? value : at.mismatch(value, 'bool')),
  int: (value, at) => (Number.isInteger(value) ? value : at.mismatch(value, 'integer')),
  'int-or-string': (value, at) =>
    typeof value === 'string' || Number.isInteger(value)
      ? value
      : at.mismatch(value, 'integer or string'),
  quantity: (value, at) => {
    if (typeof value !== 'string' && typeof value !== 'number')
      return at.mismatch(value, 'quantity');
    return canonicalQuantity(String(value)) ?? at.mismatch(value, 'quantity');
  },
};
