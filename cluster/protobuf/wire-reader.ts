import { badRequest } from '../errors/status-errors.ts';

/** One field as it is on the wire: a number for varints, bytes for everything with a length. */
export interface WireField {
  readonly number: number;
  readonly value: bigint | Buffer;
}

const VARINT = 0;
const LENGTH_DELIMITED = 2;

/**
 * Returns the fields of a message, in their order.
 *
 * @throws {StatusError} 400 when the bytes are cut short or of a wire type that Kubernetes does not use
 */
export function readFields(bytes: Buffer): readonly WireField[] {
  const fields: WireField[] = [];
  const cursor = { at: 0 };
  while (cursor.at < bytes.length) {
    const tag = Number(readVarint(bytes, cursor));
    const number = Math.floor(tag / 8);
    const wireType = tag % 8;
    if (wireType === VARINT) fields.push({ number, value: readVarint(bytes, cursor) });
    else if (wireType === LENGTH_DELIMITED)
      fields.push({ number, value: readBytes(bytes, cursor) });
    else throw broken(`wire type ${wireType} of field ${number} is not read`);
  }
  return fields;
}

const LONGEST_VARINT = 10;

function readVarint(bytes: Buffer, cursor: { at: number }): bigint {
  let value = 0n;
  for (let read = 0; read < LONGEST_VARINT; read += 1) {
    const byte = bytes[cursor.at];
    if (byte === undefined) throw broken('it ends within a number');
    cursor.at += 1;
    value |= BigInt(byte & 0x7f) << BigInt(7 * read);
    if (byte < 0x80) return BigInt.asIntN(64, value);
  }
  throw broken('a number has more than ten bytes');
}

function readBytes(bytes: Buffer, cursor: { at: number }): Buffer {
  const length = Number(readVarint(bytes, cursor));
  const end = cursor.at + length;
  if (length < 0 || end > bytes.length) throw broken('it ends within a field');
  const part = bytes.subarray(cursor.at, end);
  cursor.at = end;
  return part;
}

/** Returns the 400 for bytes that are no message. */
export function broken(why: string): Error {
  return badRequest(`the object provided is not valid protobuf: ${why}`);
}
