/** Levels of arrays and objects within one another that are read (D-29). */
const maxNesting = 1_000;

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
 * Whether JSON `text`, whose bytes are `bytes`, nests deeper than {@link maxNesting}. Parsing such a text may take
 * seconds; this takes a few nanoseconds a byte at most, and next to nothing for what opens too few levels for it. Texts
 * that are no JSON get any answer.
 */
export function isJsonTooDeep(text: string, bytes: Uint8Array): boolean {
  if (countUpTo(text, '{') + countUpTo(text, '[') <= maxNesting) return false;
  let depth = 0;
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    at += 1;
    if (byte === QUOTE) at = afterString(bytes, at);
    else if (byte >= OPEN_BRACKET) depth += levelsOf(byte);
    if (depth > maxNesting) return true;
  }
  return false;
}

/** How often `text` has `mark`, also within strings; beyond {@link maxNesting} nobody counts. */
function countUpTo(text: string, mark: string): number {
  let count = 0;
  let at = text.indexOf(mark);
  while (at >= 0 && count <= maxNesting) {
    count += 1;
    at = text.indexOf(mark, at + 1);
  }
  return count;
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

/** Marks of YAML that are read: a parser takes about 15 µs for each, and 60 where anchors pile up. */
const maxMarks = 1_500;

/** Characters that begin something in YAML wherever they stand; others only before a blank. */
const marks: ReadonlySet<number> = new Set(Buffer.from('\n,[]{}&*!#|>%@`"\''));
const marksBeforeBlank: ReadonlySet<number> = new Set(Buffer.from('-?:'));

/** Levels of YAML within one another on one line: what the parser takes grows with their cube. */
const maxYamlNesting = 64;
/** Blanks before the first character of a line, which bounds nesting by indentation. */
const maxIndentation = 256;

/**
 * Why YAML `text` is not parsed, as a clause after "it": it may nest deeply, or has so much structure that parsing would
 * hold up everybody else (FUZZ-1). Keys that are no scalars (`? `) are refused, as no object has any.
 */
export function yamlProblem(text: Uint8Array): string | undefined {
  let brackets = 0;
  let count = 0;
  let line: Line = newLine;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at] ?? 0;
    if (isMark(byte, text[at + 1])) count += 1;
    brackets += levelsOf(byte);
    line = byte === NEWLINE ? newLine : lineAfter(line, byte, text[at + 1]);
    if (brackets > maxYamlNesting || line.isWrong) return 'nests too deep for YAML';
    if (count > maxMarks) return `has more than the ${maxMarks} marks that YAML may have here`;
  }
  return undefined;
}

/** A line up to some character. */
interface Line {
  /** Blanks and dashes so far; -1 once something else has begun. */
  readonly lead: number;
  readonly dashes: number;
  readonly isWrong: boolean;
}

const newLine: Line = Object.freeze({ lead: 0, dashes: 0, isWrong: false });
const begunLine: Line = Object.freeze({ lead: -1, dashes: 0, isWrong: false });

function lineAfter(line: Line, byte: number, next: number | undefined): Line {
  if (line.lead < 0) return line;
  const isDash = byte === DASH && isBlank(next);
  if (byte === QUESTION && isBlank(next)) return { ...line, isWrong: true };
  if (!isDash && byte !== SPACE) return begunLine;
  const lead = line.lead + 1;
  const dashes = line.dashes + (isDash ? 1 : 0);
  return { lead, dashes, isWrong: lead > maxIndentation || dashes > maxYamlNesting };
}

/** What is wrong with a text that nests too deep, as a clause after "it". */
export const tooDeep: string = `nests deeper than ${maxNesting} levels`;

function isMark(byte: number, next: number | undefined): boolean {
  return marks.has(byte) || (marksBeforeBlank.has(byte) && isBlank(next));
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === NEWLINE || byte === undefined;
}

function levelsOf(byte: number): -1 | 0 | 1 {
  if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return 1;
  return byte === CLOSE_BRACE || byte === CLOSE_BRACKET ? -1 : 0;
}
