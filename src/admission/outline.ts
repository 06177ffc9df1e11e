import type { JsonObject, JsonValue } from '#base/json.ts';
import { parseValue } from './parse-value.ts';
import { skipBlanks, skipText, skipValue } from './skip-json.ts';

/** A member that is read. */
export interface WantedMember {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The members of it that are read; undefined for all of it. */
  readonly inner: Wanted | undefined;
}

/** The members of an object that are read. */
export type Wanted = readonly WantedMember[];

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The member `name`, of which all is read, or where it is an object `inner` only. */
export function member(name: string, inner?: Wanted): WantedMember {
  return { name, bytes: Buffer.from(name), inner };
}

/**
 * The JSON object in `body` with the members that are wanted and no others: parsing a whole review to look at ten of its
 * members would be most of what answering it costs. What is not wanted is gone over to its end too and must be JSON, and
 * of repeated members the last counts, so that whoever looks at the wanted members only sees in this what it would see in
 * the whole.
 *
 * @returns undefined where `body` is no JSON object, or an unusual one, which nests deep or escapes a character in the
 * name of a member: then only the whole tells
 */
export function outlineOf(body: Buffer, wanted: Wanted): JsonObject | undefined {
  const start = skipBlanks(body, 0);
  if (body[start] !== OPEN_BRACE) return undefined;
  const reader = new OutlineReader(body);
  const object = reader.object(start, wanted);
  return reader.end >= 0 && skipBlanks(body, reader.end) === body.length ? object : undefined;
}

class OutlineReader {
  readonly #body: Buffer;
  /** Where ends what was read last; -1 for good where it is not, or cannot be told, what JSON has there. */
  end = 0;

  constructor(body: Buffer) {
    this.#body = body;
  }

  /** Reads the object that begins at `start`. */
  object(start: number, wanted: Wanted): JsonObject {
    const body = this.#body;
    const found: Record<string, JsonValue> = {};
    let at = skipBlanks(body, start + 1);
    if (body[at] === CLOSE_BRACE) {
      this.end = at + 1;
      return found;
    }
    for (;;) {
      this.#member(at, wanted, found);
      at = skipBlanks(body, this.end);
      if (body[at] === COMMA) {
        at = skipBlanks(body, at + 1);
        continue;
      }
      this.end = body[at] === CLOSE_BRACE ? at + 1 : -1;
      return found;
    }
  }

  #member(start: number, wanted: Wanted, found: Record<string, JsonValue>): void {
    const body = this.#body;
    this.end = -1;
    if (body[start] !== QUOTE) return;
    const nameEnd = skipText(body, start + 1);
    const colon = skipBlanks(body, nameEnd);
    if (body[colon] !== COLON) return;
    const known = this.#memberNamed(start + 1, nameEnd - 1, wanted);
    if (known === 'unclear') return;
    const at = skipBlanks(body, colon + 1);
    if (known === undefined) this.end = skipValue(body, at);
    else found[known.name] = this.#value(at, known.inner);
  }

  #value(at: number, inner: Wanted | undefined): JsonValue {
    const body = this.#body;
    if (inner !== undefined && body[at] === OPEN_BRACE) return this.object(at, inner);
    this.end = skipValue(body, at);
    return this.end < 0 ? null : parseValue(body, at, this.end);
  }

  /** The wanted member whose name stands in a range; one with escaped characters could be any. */
  #memberNamed(from: number, to: number, wanted: Wanted): WantedMember | 'unclear' | undefined {
    const body = this.#body;
    for (let at = from; at < to; at += 1) {
      if (body[at] === BACKSLASH) return 'unclear';
    }
    for (const each of wanted) {
      if (each.bytes.length === to - from && isAt(body, from, each.bytes)) return each;
    }
    return undefined;
  }
}

function isAt(body: Buffer, from: number, bytes: Uint8Array): boolean {
  for (let index = 0; index < bytes.length; index += 1) {
    if (body[from + index] !== bytes[index]) return false;
  }
  return true;
}
