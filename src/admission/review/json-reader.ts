/** Reads of a JSON object the members that are wanted, and of each no more than was agreed. */
import type { JsonObject, JsonValue } from '#base/json.ts';
import { maxDepth, nestsTooDeep, skipBlanks, skipText, skipValue } from './json-scan.ts';

/** How a member is read. Another type than the wanted one is reported by an empty value of that type. */
export type JsonReading =
  /** A text of at most `most` characters. */
  | { readonly as: 'text'; readonly most: number; readonly ifLonger: 'refuse' | 'replace' }
  /** A number, `true`, `false` or `null`. */
  | { readonly as: 'scalar' }
  /** Any value, as the text of at most `most` bytes that it is written as: its reader knows its numbers. */
  | { readonly as: 'source'; readonly most: number }
  /**
   * An object of texts, of which these members are read. One that is neither text nor null is reported, the first by its name.
   */
  | { readonly as: 'texts'; readonly members: readonly Member[] }
  /** An object, of which these members are read. */
  | { readonly as: 'members'; readonly members: readonly Member[] };

/** A member that is read. */
export interface Member {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly reading: JsonReading;
}

/** An object as far as it was wanted, or a clause after "it" that says why it is not read. */
export type ReadObject =
  | { readonly kind: 'object'; readonly object: JsonObject }
  | { readonly kind: 'refused'; readonly why: string };

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const LAST_DIGIT = 0x39;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const LETTER_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const firstBeyondAscii = 0x80;

/** Most bytes that one character takes in JSON: an escape such as \u0041. */
const longestCharacter = 6;
/** Stands for a text that is only reported, and too long for that. */
const longText = '(a long text)';
/** Longest number that is read, in characters. */
const longestNumber = 1_024;
/** Longest name of a member that is reported, in characters. */
const longestName = 400;

/** Returns the member `name`, read as `reading` says. */
export function member(name: string, reading: JsonReading): Member {
  return { name, bytes: Buffer.from(name), reading };
}

/**
 * Reads the JSON object in `body`. What is not wanted is gone over to its end too and must be JSON, so that a reader who looks
 * at the wanted members only sees what it would see in the whole. A wanted member that appears twice is refused:
 * readers differ on which of them counts. Memory is bounded by what the wanted members may take, whatever the body is;
 * time grows with its length.
 */
export function readObject(body: Buffer, wanted: readonly Member[]): ReadObject {
  const start = skipBlanks(body, 0);
  if (body[start] !== OPEN_BRACE) return refused('is not a JSON object');
  const reader = new ObjectReader(body);
  const object = reader.object(start, wanted);
  if (reader.problem !== undefined) return refused(reader.problem);
  if (reader.end >= 0 && skipBlanks(body, reader.end) === body.length) {
    return { kind: 'object', object };
  }
  return refused(
    nestsTooDeep(body) ? `nests deeper than ${maxDepth} levels` : 'is not well-formed JSON',
  );
}

function refused(why: string): ReadObject {
  return { kind: 'refused', why };
}

class ObjectReader {
  readonly #body: Buffer;
  /** Objects within one another that are being read. */
  #depth = 0;
  /** Where ends what was read last; -1 for good where it is not what JSON has there, or is too long. */
  end = 0;
  /** What is too long, as a clause after "it". */
  problem: string | undefined;

  constructor(body: Buffer) {
    this.#body = body;
  }

  /** Reads the wanted members of the object that begins at `start`. */
  object(start: number, wanted: readonly Member[]): JsonObject {
    const found: Record<string, JsonValue> = {};
    this.#eachMember(start, (nameAt, nameEnd, valueAt) => {
      const known = this.#memberNamed(nameAt, nameEnd, wanted);
      if (known === undefined) this.end = skipValue(this.#body, valueAt, this.#depth);
      else this.#take(known, valueAt, found);
    });
    return found;
  }

  #take(known: Member, valueAt: number, found: Record<string, JsonValue>): void {
    const { name, reading } = known;
    if (Object.hasOwn(found, name)) this.#refuse(name, 'appears twice');
    else if (reading.as === 'source') found[name] = this.#source(valueAt, name, reading.most);
    else found[name] = this.#value(valueAt, known);
  }

  /** Calls `use`, which reads the value, for each member of the object that begins at `start`. */
  #eachMember(
    start: number,
    use: (nameAt: number, nameEnd: number, valueAt: number) => void,
  ): void {
    this.#depth += 1;
    this.#eachOf(start, use);
    this.#depth -= 1;
  }

  #eachOf(start: number, use: (nameAt: number, nameEnd: number, valueAt: number) => void): void {
    const body = this.#body;
    let at = skipBlanks(body, start + 1);
    if (body[at] === CLOSE_BRACE) {
      this.end = at + 1;
      return;
    }
    for (;;) {
      this.end = -1;
      if (body[at] !== QUOTE) return;
      const nameEnd = skipText(body, at + 1);
      const colon = skipBlanks(body, nameEnd);
      if (body[colon] !== COLON) return;
      use(at, nameEnd, skipBlanks(body, colon + 1));
      const next = skipBlanks(body, this.end);
      this.end = -1;
      if (body[next] === CLOSE_BRACE) this.end = next + 1;
      if (body[next] !== COMMA) return;
      at = skipBlanks(body, next + 1);
    }
  }

  #value(at: number, { name, reading }: Member): JsonValue {
    const body = this.#body;
    const byte = body[at];
    if (byte === OPEN_BRACE && reading.as === 'members') {
      const object = this.object(at, reading.members);
      if (this.problem !== undefined) this.problem = `has a member ${name} that ${this.problem}`;
      return object;
    }
    if (byte === OPEN_BRACE && reading.as === 'texts')
      return this.#texts(at, name, reading.members);
    this.end = skipValue(body, at, this.#depth);
    if (this.end < 0) return null;
    if (byte === QUOTE && reading.as === 'text') return this.#text(at, name, reading);
    return reading.as === 'scalar' ? this.#scalar(at, name) : emptyOf(byte);
  }

  #source(at: number, name: string, most: number): string {
    this.end = skipValue(this.#body, at, this.#depth);
    if (this.end - at <= most) return this.#body.toString('utf8', at, Math.max(this.end, at));
    this.#refuse(name, `has more than ${most} bytes`);
    return '';
  }

  /** Returns the text in a range that was gone over already. */
  #text(at: number, name: string, { most, ifLonger }: JsonReading & { as: 'text' }): string {
    const length = this.end - at - 2;
    const text = length > most * longestCharacter ? undefined : textIn(this.#body, at, this.end);
    if (text !== undefined && text.length <= most) return text;
    if (ifLonger === 'replace') return longText;
    this.#refuse(name, `has more than ${most} characters`);
    return '';
  }

  #scalar(at: number, name: string): JsonValue {
    const { end } = this;
    const empty = emptyOf(this.#body[at]);
    if (typeof empty !== 'number') return empty;
    if (end - at <= longestNumber) return Number(this.#body.toString('latin1', at, end));
    this.#refuse(name, `has more than ${longestNumber} characters`);
    return empty;
  }

  /** Returns the wanted members of an object of texts, and the first that is no text. */
  #texts(start: number, name: string, wanted: readonly Member[]): JsonObject {
    const body = this.#body;
    const found: Record<string, JsonValue> = {};
    let other: readonly [string, JsonValue] | undefined;
    this.#eachMember(start, (nameAt, nameEnd, valueAt) => {
      const isText = body[valueAt] === QUOTE || body[valueAt] === LETTER_N;
      const known = isText ? this.#memberNamed(nameAt, nameEnd, wanted) : undefined;
      if (known === undefined) {
        this.end = skipValue(body, valueAt, this.#depth);
        if (!isText) other ??= [this.#nameAt(nameAt, nameEnd), emptyOf(body[valueAt])];
      } else this.#take(known, valueAt, found);
    });
    if (this.problem !== undefined) this.problem = `has a member ${name} that ${this.problem}`;
    return other === undefined ? found : Object.fromEntries([...Object.entries(found), other]);
  }

  #nameAt(from: number, to: number): string {
    return to - from - 2 <= longestName ? textIn(this.#body, from, to) : longText;
  }

  #refuse(name: string, why: string): void {
    this.problem = `has a member ${name} that ${why}`;
    this.end = -1;
  }

  /** Returns the wanted member whose name, quotes included, is in a range. */
  #memberNamed(from: number, to: number, wanted: readonly Member[]): Member | undefined {
    const body = this.#body;
    const length = to - from - 2;
    for (const each of wanted) {
      if (each.bytes.length === length && isAt(body, from + 1, each.bytes)) return each;
    }
    if (!hasEscape(body, from + 1, to - 1)) return undefined;
    return wanted.find(({ bytes }) => spells(body, { from: from + 1, to: to - 1 }, bytes));
  }
}

/** Returns the text between the quotes at the ends of a range. */
function textIn(body: Buffer, from: number, to: number): string {
  // Most texts by far; a quarter of the time that the general way takes.
  if (isPlain(body, from + 1, to - 1)) return body.toString('latin1', from + 1, to - 1);
  return String(JSON.parse(body.toString('utf8', from, to)));
}

/** Reports whether what is written is what is meant. */
function isPlain(body: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const byte = body[at] ?? BACKSLASH;
    if (byte === BACKSLASH || byte >= firstBeyondAscii) return false;
  }
  return true;
}

function hasEscape(body: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (body[at] === BACKSLASH) return true;
  return false;
}

/** Reports whether a range of well-formed JSON, with any character possibly escaped, means `bytes`, which are ASCII. */
function spells(
  body: Buffer,
  { from, to }: { readonly from: number; readonly to: number },
  bytes: Uint8Array,
): boolean {
  let at = from;
  for (const byte of bytes) {
    if (at >= to) return false;
    // Of all short escapes none means a letter or a digit, as the wanted names have.
    const isUnicode = body[at] === BACKSLASH && body[at + 1] === LETTER_U;
    if ((isUnicode ? hexAt(body, at + 2) : body[at]) !== byte) return false;
    at += isUnicode ? longestCharacter : 1;
  }
  return at === to;
}

/** Returns what four hexadecimal digits mean; letters may be small or capital. */
function hexAt(body: Buffer, at: number): number {
  let value = 0;
  for (let next = at; next < at + 4; next += 1) {
    const byte = body[next] ?? 0;
    value = value * 16 + (byte <= LAST_DIGIT ? byte & 0xf : (byte & 0xf) + 9);
  }
  return value;
}

function isAt(body: Buffer, from: number, bytes: Uint8Array): boolean {
  for (let index = 0; index < bytes.length; index += 1) {
    if (body[from + index] !== bytes[index]) return false;
  }
  return true;
}

/** Returns a value of the type that begins with `byte`: all that is said of one that is not wanted there. */
function emptyOf(byte: number | undefined): JsonValue {
  switch (byte) {
    case OPEN_BRACE:
      return {};
    case OPEN_BRACKET:
      return [];
    case QUOTE:
      return '';
    case LETTER_T:
      return true;
    case LETTER_F:
      return false;
    case LETTER_N:
      return null;
    default:
      return 0;
  }
}
