import { skipBlanks, skipText, skipValue } from './skip-json.ts';

/** Which arrays and objects within an object are kept: `whole` keeps one as it is, a map what it names within. */
export type Wanted = ReadonlyMap<string, Wanted | 'whole'>;

/** Values that are left out at most: each costs more than parsing a short one, and a review has a few dozen. */
const maxCuts = 1_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * The JSON object in `body` as text, with `null` in the place of each array and object that is not wanted: parsing a
 * whole review to look at ten of its members would be most of what answering it costs. What is left out is read to its
 * end too and must be JSON, and order and repetition stay, so that whoever looks at the wanted members only sees in
 * this what it would see in the whole.
 *
 * @returns undefined where `body` is no JSON object, or an unusual one, which nests deep, has thousands of values
 * to leave out, or escapes a character in the name of a member: then only the whole tells
 */
export function outlineOf(body: Buffer, wanted: Wanted): string | undefined {
  const start = skipBlanks(body, 0);
  if (body[start] !== OPEN_BRACE) return undefined;
  const cuts: Cut[] = [];
  const end = cutMembers({ body, cuts }, start, wanted);
  if (end < 0 || !isBlankFrom(body, end)) return undefined;
  return textWithout(body, cuts);
}

function isBlankFrom(body: Buffer, at: number): boolean {
  return at === body.length || skipBlanks(body, at) === body.length;
}

/** From one byte up to another. */
interface Cut {
  readonly from: number;
  readonly to: number;
}

interface Outline {
  readonly body: Buffer;
  readonly cuts: Cut[];
}

/** Cuts what is not wanted of the object that begins at `start`. @returns where it ends, or -1 */
function cutMembers(outline: Outline, start: number, wanted: Wanted): number {
  const { body } = outline;
  let at = skipBlanks(body, start + 1);
  if (body[at] === CLOSE_BRACE) return at + 1;
  for (;;) {
    if (body[at] !== QUOTE) return -1;
    const name = at + 1;
    const nameEnd = skipText(body, name);
    at = skipBlanks(body, nameEnd);
    if (body[at] !== COLON) return -1;
    at = skipBlanks(body, at + 1);
    const isInner = body[at] === OPEN_BRACE || body[at] === OPEN_BRACKET;
    const end = isInner
      ? cutValue(outline, at, wantedAs(body.toString('latin1', name, nameEnd - 1), wanted))
      : skipValue(body, at);
    at = skipBlanks(body, end);
    if (body[at] === CLOSE_BRACE) return at + 1;
    if (body[at] !== COMMA) return -1;
    at = skipBlanks(body, at + 1);
  }
}

/** A name with escaped characters could be any name. */
function wantedAs(name: string, wanted: Wanted): Wanted | 'whole' | 'unclear' | undefined {
  return name.includes('\\') ? 'unclear' : wanted.get(name);
}

/** @returns where the array or object that begins at `start` ends, or -1 */
function cutValue(outline: Outline, start: number, want: ReturnType<typeof wantedAs>): number {
  const { body, cuts } = outline;
  if (want === 'unclear') return -1;
  if (want !== undefined && want !== 'whole' && body[start] === OPEN_BRACE) {
    return cutMembers(outline, start, want);
  }
  const end = skipValue(body, start);
  if (want !== undefined || end < 0) return end;
  return cuts.push({ from: start, to: end }) > maxCuts ? -1 : end;
}

function textWithout(body: Buffer, cuts: readonly Cut[]): string {
  let text = '';
  let at = 0;
  for (const { from, to } of cuts) {
    text += `${body.toString('utf8', at, from)}null`;
    at = to;
  }
  return text + body.toString('utf8', at, body.length);
}
