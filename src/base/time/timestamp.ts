import type { Parsed } from '../parsed.ts';
import { invalid, valid } from '../parsed.ts';
import { quoted } from '../text/quoted.ts';
import { type Instant, instant } from '../units.ts';

const syntax =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:Z|([+-])(\d{2}):(\d{2}))$/;

/**
 * Returns the time that an RFC 3339 timestamp names (IN-17): upper-case `T` and `Z`, seconds, an offset; nothing is trimmed,
 * and no day is corrected that its month does not have.
 *
 * @param path of `text`, for the problem
 */
export function parseTimestamp(text: string, path: string): Parsed<Instant> {
  const match = syntax.exec(text);
  const at = match === null ? undefined : timeOf(match);
  if (at === undefined) {
    const wanted = 'must be an RFC 3339 time such as "2026-01-31T12:00:00Z"';
    return invalid(path, `${wanted}: got ${quoted(text)}`);
  }
  return valid(at);
}

function timeOf(match: RegExpExecArray): Instant | undefined {
  const part = (index: number): number => Number(match[index] ?? '0');
  const [year, month, day] = [part(1), part(2), part(3)];
  const [hour, minute, second] = [part(4), part(5), part(6)];
  const [offsetHours, offsetMinutes] = [part(9), part(10)];
  const hasSaneClock = hour < 24 && minute < 60 && second < 60;
  const hasSaneOffset = offsetHours < 24 && offsetMinutes < 60;
  if (!hasSaneClock || !hasSaneOffset || !isDate(year, month, day)) return undefined;
  const fraction = Math.trunc(Number(`0.${match[7] ?? '0'}`) * 1_000);
  const local = Date.UTC(year, month - 1, day, hour, minute, second, fraction);
  const offset = (offsetHours * 60 + offsetMinutes) * 60_000;
  return instant(match[8] === '-' ? local + offset : local - offset);
}

function isDate(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return year >= 100 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
