/** Goes over JSON in bytes without making anything of it: each function returns where what it skips ends, or -1. */

const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LETTER_E = 0x65;
const LETTER_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Levels of arrays and objects within one another that are read. */
export const maxDepth = 1_000;

const plain = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);
const blank = bytesOf('\t\n\r ');
const escapes = bytesOf('"\\/bfnrt');
const hexDigits = bytesOf('0123456789abcdefABCDEF');
const digits = bytesOf('0123456789');
const words = new Map(
  ['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)]),
);

function bytesOf(characters: string): Uint8Array {
  const set = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) set[byte] = 1;
  return set;
}

/** Returns where the blanks that begin at `at` end; -1 stays -1. */
export function skipBlanks(body: Buffer, at: number): number {
  let next = at;
  while (blank[body[next] ?? 0] === 1) next += 1;
  return next;
}

/** Returns where the text that begins at `at` ends, behind its closing quote. */
export function skipText(body: Buffer, at: number): number {
  let next = at;
  for (;;) {
    while (plain[body[next] ?? 0] === 1) next += 1;
    const byte = body[next];
    if (byte === QUOTE) return next + 1;
    if (byte !== BACKSLASH) return -1;
    next = skipEscape(body, next + 1);
    if (next < 0) return -1;
  }
}

function skipEscape(body: Buffer, at: number): number {
  if (escapes[body[at] ?? 0] === 1) return at + 1;
  if (body[at] !== LETTER_U) return -1;
  const end = at + 5;
  for (let next = at + 1; next < end; next += 1) {
    if (hexDigits[body[next] ?? 0] !== 1) return -1;
  }
  return end;
}

/** Returns where the value that begins at `at` ends. */
export function skipValue(body: Buffer, at: number, depth: number = 0): number {
  const byte = body[at];
  if (byte === QUOTE) return skipText(body, at + 1);
  if (byte === OPEN_BRACE) return depth < maxDepth ? skipMembers(body, at, depth + 1) : -1;
  if (byte === OPEN_BRACKET) return depth < maxDepth ? skipItems(body, at, depth + 1) : -1;
  if (byte === MINUS || digits[byte ?? 0] === 1) return skipNumber(body, at);
  return skipWord(body, at);
}

function skipMembers(body: Buffer, start: number, depth: number): number {
  let at = skipBlanks(body, start + 1);
  if (body[at] === CLOSE_BRACE) return at + 1;
  for (;;) {
    if (body[at] !== QUOTE) return -1;
    at = skipBlanks(body, skipText(body, at + 1));
    if (body[at] !== COLON) return -1;
    at = skipBlanks(body, skipValue(body, skipBlanks(body, at + 1), depth));
    if (body[at] === CLOSE_BRACE) return at + 1;
    if (body[at] !== COMMA) return -1;
    at = skipBlanks(body, at + 1);
  }
}

function skipItems(body: Buffer, start: number, depth: number): number {
  let at = skipBlanks(body, start + 1);
  if (body[at] === CLOSE_BRACKET) return at + 1;
  for (;;) {
    at = skipBlanks(body, skipValue(body, at, depth));
    if (body[at] === CLOSE_BRACKET) return at + 1;
    if (body[at] !== COMMA) return -1;
    at = skipBlanks(body, at + 1);
  }
}

function skipNumber(body: Buffer, at: number): number {
  let next = body[at] === MINUS ? at + 1 : at;
  next = body[next] === ZERO ? next + 1 : skipDigits(body, next);
  if (body[next] === POINT) next = skipDigits(body, next + 1);
  const letter = body[next];
  if (letter === undefined || (letter | 0x20) !== LETTER_E) return next;
  const sign = body[next + 1];
  return skipDigits(body, sign === PLUS || sign === MINUS ? next + 2 : next + 1);
}

/** Returns where the digits that begin at `at` end; -1 without any. */
function skipDigits(body: Buffer, at: number): number {
  let next = at;
  while (digits[body[next] ?? 0] === 1) next += 1;
  return next > at ? next : -1;
}

function skipWord(body: Buffer, at: number): number {
  const word = words.get(body[at] ?? 0);
  if (word === undefined) return -1;
  for (let index = 1; index < word.length; index += 1) {
    if (body[at + index] !== word[index]) return -1;
  }
  return at + word.length;
}

/** Reports whether what was found to be no JSON nests too deep to be read; it may be no JSON either. */
export function nestsTooDeep(body: Buffer): boolean {
  let depth = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
    else if (byte === QUOTE) {
      const end = skipText(body, at + 1);
      if (end < 0) return false;
      at = end - 1;
    }
    if (depth > maxDepth) return true;
  }
  return false;
}
