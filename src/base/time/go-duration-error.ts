/** Says what is wrong with a duration in the words of Go, which clients of a Go program know. */
import { goDurationUnit } from './go-duration.ts';

/** What Go's parser counts up to, in nanoseconds and in each number. */
const most = 2n ** 63n;
/** Digits of {@link most}. */
const mostDigits = 19;

/**
 * Returns the error text of Go's `time.ParseDuration` for `text`, which `parseGoDuration()` refused. Go reads from the
 * left and stops at the first thing that is wrong; what it could read and is too long in all is as wrong as the rest.
 */
export function goDurationError(text: string): string {
  const unsigned = /^[+-]/.test(text) ? text.slice(1) : text;
  let total = 0n;
  const term = /(\d*)(?:\.(\d*))?([^\d.]*)/y;
  do {
    const found = term.exec(unsigned);
    const count = countIn(found);
    if (count === undefined) break;
    const unit = found?.[3] ?? '';
    const scale = goDurationUnit(unit);
    if (scale === undefined) return `time: ${unitProblem(unit)} in duration ${goQuoted(text)}`;
    total += count * scale;
  } while (total <= most && term.lastIndex < unsigned.length);
  return `time: invalid duration ${goQuoted(text)}`;
}

function unitProblem(unit: string): string {
  return unit === '' ? 'missing unit' : `unknown unit ${goQuoted(unit)}`;
}

/** Returns the number before the point of a term; undefined where there is none, or it is beyond {@link most}. */
function countIn(term: readonly (string | undefined)[] | null): bigint | undefined {
  const [, whole = '', fraction = ''] = term ?? [];
  if (whole === '' && fraction === '') return undefined;
  const count = countOf(whole);
  return count > most ? undefined : count;
}

/** Returns the number that `digits` spell, or one that is beyond {@link most} as well. */
function countOf(digits: string): bigint {
  const significant = digits.replace(/^0+/, '');
  return significant.length > mostDigits ? most + 1n : BigInt(significant || '0');
}

const firstBeyondAscii = 0x80;
const firstPrintable = 0x20;
const encoder = new TextEncoder();

/** Returns `text` as Go's package time quotes it: bytes beyond ASCII and control characters as `\x` and two digits. */
function goQuoted(text: string): string {
  let quoted = '"';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code >= firstBeyondAscii || code < firstPrintable) quoted += escapedBytes(character);
    else quoted += character === '"' || character === '\\' ? `\\${character}` : character;
  }
  return `${quoted}"`;
}

function escapedBytes(character: string): string {
  return [...encoder.encode(character)]
    .map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`)
    .join('');
}
