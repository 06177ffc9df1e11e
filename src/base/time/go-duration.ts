import type { Parsed } from '../parsed.ts';
import { invalid, valid } from '../parsed.ts';
import { quoted } from '../text/quoted.ts';
import type { Millis } from '../units.ts';
import { millis } from '../units.ts';

const nanosecondsPerUnit: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n], // micro sign
  ['\u03bcs', 1_000n], // Greek letter mu
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);

const maxNanoseconds = 2n ** 63n - 1n;
/** More digits than 2^63 has; beyond them a number is out of range and a fraction below one nanosecond. */
const significantDigits = 20;

const wanted = 'must be a Go duration such as "90s", "1h30m" or "0" (units ns, us, ms, s, m, h)';

/**
 * Returns the span that a Go duration names: an optional sign, then `0` or one or more decimals each with a unit (IN-16,
 * FL-6). The unit is required, days and weeks do not exist, nothing is trimmed; the range is that of 64 bits of nanoseconds.
 *
 * @param path of `text`, for the problem
 */
export function parseGoDuration(text: string, path: string): Parsed<Millis> {
  const sign = text.startsWith('-') ? -1n : 1n;
  const unsigned = /^[+-]/.test(text) ? text.slice(1) : text;
  if (unsigned === '0') return valid(millis(0));
  const nanoseconds = sumOfTerms(unsigned);
  if (typeof nanoseconds === 'string') {
    return invalid(path, `${wanted}${nanoseconds}: got ${quoted(text)}`);
  }
  const limit = sign < 0n ? maxNanoseconds + 1n : maxNanoseconds;
  if (nanoseconds > limit) {
    return invalid(path, `${wanted} of at most 2562047h47m: got ${quoted(text)}`);
  }
  return valid(fromNanoseconds(sign * nanoseconds));
}

/** Returns the nanoseconds that a unit of Go stands for; undefined for what is no unit. */
export function goDurationUnit(unit: string): bigint | undefined {
  return nanosecondsPerUnit.get(unit);
}

/** Returns the sum in nanoseconds, or what is wrong with the text as the end of a sentence. */
function sumOfTerms(text: string): bigint | string {
  const term = /(\d*)(?:\.(\d*))?([^\d.]*)/y;
  let total = 0n;
  do {
    const [, whole = '', fraction = '', unit = ''] = term.exec(text) ?? [];
    if (whole === '' && fraction === '') return '';
    if (unit === '') return ', and each number needs a unit';
    const scale = nanosecondsPerUnit.get(unit);
    if (scale === undefined) return `, and ${quoted(unit)} is no unit`;
    total += BigInt(significant(whole)) * scale + fractionOf(fraction, scale);
  } while (term.lastIndex < text.length);
  return total;
}

function significant(digits: string): string {
  const stripped = digits.replace(/^0+(?=\d)/, '') || '0';
  return stripped.length > significantDigits ? '9'.repeat(significantDigits) : stripped;
}

function fractionOf(digits: string, scale: bigint): bigint {
  const kept = digits.slice(0, significantDigits);
  return (BigInt(kept || '0') * scale) / 10n ** BigInt(kept.length);
}

/** Splits first, so that whole milliseconds stay exact however large they are. */
function fromNanoseconds(nanoseconds: bigint): Millis {
  return millis(Number(nanoseconds / 1_000_000n) + Number(nanoseconds % 1_000_000n) / 1_000_000);
}

/**
 * Returns `span` as Go prints it (LG-5): `1h0m0s`, `1.5s`, `250ms`, `1.5µs`, `0s`. Rounded to the nanosecond.
 *
 * @throws {RangeError} when `span` is not finite
 */
export function formatGoDuration(span: Millis): string {
  const whole = Math.trunc(span);
  const nanoseconds = BigInt(whole) * 1_000_000n + BigInt(Math.round((span - whole) * 1_000_000));
  if (nanoseconds === 0n) return '0s';
  return nanoseconds < 0n ? `-${format(-nanoseconds)}` : format(nanoseconds);
}

function format(nanoseconds: bigint): string {
  if (nanoseconds < 1_000n) return `${nanoseconds}ns`;
  if (nanoseconds < 1_000_000n) return `${decimal(nanoseconds, 3)}µs`;
  if (nanoseconds < 1_000_000_000n) return `${decimal(nanoseconds, 6)}ms`;
  const minute = 60_000_000_000n;
  const minutes = nanoseconds / minute;
  const rest = `${decimal(nanoseconds % minute, 9)}s`;
  if (minutes === 0n) return rest;
  if (minutes < 60n) return `${minutes}m${rest}`;
  return `${minutes / 60n}h${minutes % 60n}m${rest}`;
}

/** Returns `value` / 10^`places`, without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const scale = 10n ** BigInt(places);
  const fraction = (value % scale).toString().padStart(places, '0').replace(/0+$/, '');
  return fraction === '' ? `${value / scale}` : `${value / scale}.${fraction}`;
}
