import type { JsonValue } from '#base/json.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const firstBeyondAscii = 0x80;

/** The value in a range of `body` that was gone over already, and is JSON. */
export function parseValue(body: Buffer, from: number, to: number): JsonValue {
  // Most values by far; a quarter of the time that the general way takes.
  if (body[from] === QUOTE && isPlain(body, from + 1, to - 1)) {
    return body.toString('latin1', from + 1, to - 1);
  }
  return JSON.parse(body.toString('utf8', from, to)) as JsonValue;
}

/** Whether what is written is what is meant. */
function isPlain(body: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const byte = body[at] ?? BACKSLASH;
    if (byte === BACKSLASH || byte >= firstBeyondAscii) return false;
  }
  return true;
}
