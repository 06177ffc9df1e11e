/** Levels of arrays and objects within one another that are read (D-29). */
export const maxNesting = 1_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const NEWLINE = 0x0a;
const SPACE = 0x20;
const DASH = 0x2d;
const QUESTION = 0x3f;

/**
 * Whether JSON `text` nests deeper than {@link maxNesting}. Parsing such a text may take seconds; this takes about a
 * nanosecond a byte. Texts that are no JSON get any answer.
 */
export function isJsonTooDeep(text: Uint8Array): boolean {
  const { length } = text;
  if (length <= 2 * maxNesting) return false;
  let depth = 0;
  let at = 0;
  while (at < length) {
    const byte = text[at] ?? 0;
    at += 1;
    if (byte === QUOTE) at = afterString(text, at);
    else if (byte >= OPEN_BRACKET) depth += levelsOf(byte);
    if (depth > maxNesting) return true;
  }
  return false;
}

/** Where the string that begins at `start` ends. */
function afterString(text: Uint8Array, start: number): number {
  let at = start;
  for (;;) {
    const byte = text[at];
    at += 1;
    if (byte === QUOTE || byte === undefined) return at;
    if (byte === BACKSLASH) at += 1;
  }
}

/**
 * Whether YAML `text` may nest deeper than {@link maxNesting}: by brackets, wherever they stand, or by `- - -` and
 * `? ? ?` on one line. Indentation alone cannot within 256 KiB.
 */
export function isYamlTooDeep(text: Uint8Array): boolean {
  let brackets = 0;
  let indicators = 0;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    brackets += levelsOf(byte);
    if (byte === NEWLINE) indicators = 0;
    else if (isIndicator(byte) && text[at + 1] === SPACE) indicators += 1;
    if (brackets > maxNesting || indicators > maxNesting) return true;
  }
  return false;
}

function levelsOf(byte: number | undefined): -1 | 0 | 1 {
  if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return 1;
  return byte === CLOSE_BRACE || byte === CLOSE_BRACKET ? -1 : 0;
}

function isIndicator(byte: number | undefined): boolean {
  return byte === DASH || byte === QUESTION;
}
