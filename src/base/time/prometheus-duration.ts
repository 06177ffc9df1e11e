import type { Parsed } from '../parsed.ts';
import { invalid, valid } from '../parsed.ts';
import { quoted } from '../text/quoted.ts';
import type { Millis } from '../units.ts';
import { millis } from '../units.ts';

const syntax = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

/** Listed in the order of the groups of {@link syntax}. */
const millisecondsPerUnit = [31_536_000_000, 604_800_000, 86_400_000, 3_600_000, 60_000, 1_000, 1];

/** 2^63 - 1 nanoseconds, in whole milliseconds: the longest span that the peers can hold. */
const longest = 9_223_372_036_854;

const wanted =
  'must be a Prometheus duration such as "1h30m", "7d" or "0" ' +
  '(whole numbers with units y, w, d, h, m, s, ms, each at most once, the largest first)';

/**
 * Returns the span that a Prometheus duration names (IN-30): a day is 24 h, a week 7 d, a year 365 d. A bare `0` is allowed;
 * decimals, signs and spaces are not.
 *
 * @param path of `text`, for the problem
 */
export function parsePrometheusDuration(text: string, path: string): Parsed<Millis> {
  if (text === '0') return valid(millis(0));
  const match = text === '' ? null : syntax.exec(text);
  if (match === null) return invalid(path, `${wanted}: got ${quoted(text)}`);
  const total = millisecondsPerUnit.reduce(
    (sum, unit, index) => sum + Number(match[index + 1] ?? '0') * unit,
    0,
  );
  if (total > longest) {
    return invalid(path, `must be at most 292y of duration: got ${quoted(text)}`);
  }
  return valid(millis(total));
}
