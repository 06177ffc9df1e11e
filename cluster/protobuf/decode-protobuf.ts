/**
 * Requests in protobuf, as client-go writes them, to JSON, for the kinds that messages.ts has. All else is refused where
 * the type of content is looked at, in `rest/`.
 */
import type { JsonObject, JsonValue } from '#base/json.ts';
import { isJsonArray, isJsonObject } from '#base/json.ts';
import type { Field, FieldType, Message } from './message.ts';
import { one } from './message.ts';
import { messages } from './messages.ts';
import { broken, readFields, type WireField } from './wire-reader.ts';

const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

const envelope: Message = {
  fields: {
    1: one('typeMeta', {
      fields: { 1: one('apiVersion', 'string'), 2: one('kind', 'string') },
    }),
    2: one('raw', 'bytes'),
    3: one('contentEncoding', 'string'),
    4: one('contentType', 'string'),
  },
};

/**
 * Returns the object in `bytes`, as Kubernetes puts it on the wire: magic, envelope, message (HT-6). Undefined for a kind
 * whose message is not known here.
 *
 * @throws {StatusError} 400 when the bytes are no such message, or have a field that is not known
 */
export function decodeProtobuf(bytes: Buffer): JsonObject | undefined {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw broken('it does not begin with the bytes "k8s" and 0');
  }
  const { typeMeta, raw } = decodeMessage(bytes.subarray(MAGIC.length), envelope);
  const type = isJsonObject(typeMeta) ? typeMeta : {};
  const kind = textOf(type['kind']);
  const apiVersion = textOf(type['apiVersion']);
  const message = messages.get(`${apiVersion} ${kind}`) ?? messages.get(kind);
  if (message === undefined) return undefined;
  return { apiVersion, kind, ...decodeMessage(Buffer.from(textOf(raw), 'base64'), message) };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function decodeMessage(bytes: Buffer, { fields }: Message): JsonObject {
  const object: Record<string, JsonValue> = {};
  for (const wire of readFields(bytes)) {
    const field = fields[wire.number];
    if (field === undefined) throw broken(`field ${wire.number} is not known`);
    put(object, field, wire);
  }
  return object;
}

function put(object: Record<string, JsonValue>, field: Field, { value }: WireField): void {
  const { name, shape, type } = field;
  if (type === 'skipped') return;
  const old = object[name];
  if (shape === 'map') {
    const entry = decodeMessage(bytesOf(value), mapEntry(type));
    const map = isJsonObject(old) ? old : {};
    object[name] = { ...map, [textOf(entry['key'])]: entry['value'] ?? '' };
    return;
  }
  const decoded = valueOf(value, type);
  if (decoded === undefined) return;
  object[name] = shape === 'list' ? [...(isJsonArray(old) ? old : []), decoded] : decoded;
}

function mapEntry(type: FieldType): Message {
  return { fields: { 1: one('key', 'string'), 2: one('value', type) } };
}

function bytesOf(value: bigint | Buffer): Buffer {
  if (typeof value === 'bigint') throw broken('a number stands where bytes belong');
  return value;
}

function numberOf(value: bigint | Buffer): number {
  if (typeof value !== 'bigint') throw broken('bytes stand where a number belongs');
  return Number(value);
}

function valueOf(value: bigint | Buffer, type: FieldType): JsonValue | undefined {
  switch (type) {
    case 'int':
      return numberOf(value);
    case 'bool':
      return numberOf(value) !== 0;
    case 'string':
      return bytesOf(value).toString('utf8');
    case 'bytes':
      return bytesOf(value).toString('base64');
    case 'time':
    case 'micro-time':
      return timeOf(bytesOf(value), type);
    case 'int-or-string':
      return intOrString(bytesOf(value));
    case 'skipped':
      return undefined;
    default:
      return decodeMessage(bytesOf(value), type);
  }
}

const timestampMessage: Message = { fields: { 1: one('seconds', 'int'), 2: one('nanos', 'int') } };

/** Returns the time; no bytes are none, as Go writes a zero time so. */
function timeOf(bytes: Buffer, type: 'time' | 'micro-time'): string | undefined {
  if (bytes.length === 0) return undefined;
  const { seconds, nanos } = decodeMessage(bytes, timestampMessage);
  const at = typeof seconds === 'number' ? seconds : 0;
  const whole = new Date(at * 1_000).toISOString().slice(0, 19);
  if (type === 'time') return `${whole}Z`;
  const micros = Math.floor((typeof nanos === 'number' ? nanos : 0) / 1_000);
  return `${whole}.${String(micros).padStart(6, '0')}Z`;
}

const intOrStringMessage: Message = {
  fields: { 1: one('type', 'int'), 2: one('intVal', 'int'), 3: one('strVal', 'string') },
};

function intOrString(bytes: Buffer): JsonValue {
  const { type, intVal, strVal } = decodeMessage(bytes, intOrStringMessage);
  return type === 1 ? textOf(strVal) : (intVal ?? 0);
}
