import { type Instant, instant } from '#base/units.ts';

const pattern = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?Z$/;
const dayMillis = 86_400_000;

/**
 * Returns the instant that an RFC 3339 text in UTC names, in milliseconds; undefined for anything else.
 *
 * Written apart from the operator's own parser: a checker that shares code shares its mistakes.
 */
export function parseRfc3339(text: string): Instant | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map(Number);
  const fraction = Math.floor(Number(`0.${match[7] ?? '0'}`) * 1_000);
  const timeOfDay = (hour * 60 + minute) * 60_000 + second * 1_000 + fraction;
  return instant(daysSinceEpoch(year, month, day) * dayMillis + timeOfDay);
}

/** Returns `at` as RFC 3339 in UTC, cut to whole seconds as Kubernetes' `Time` is. */
export function formatRfc3339(at: Instant): string {
  const days = Math.floor(at / dayMillis);
  const secondOfDay = Math.floor((at - days * dayMillis) / 1_000);
  const time = [
    Math.floor(secondOfDay / 3_600),
    Math.floor(secondOfDay / 60) % 60,
    secondOfDay % 60,
  ];
  return `${civilDate(days)}T${time.map((part) => padded(part, 2)).join(':')}Z`;
}

// Both directions count in years that begin in March, so that a leap day is the last of its year
// (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
function daysSinceEpoch(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const leapDays = Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100);
  return era * 146_097 + yearOfEra * 365 + leapDays + dayOfYear - 719_468;
}

function civilDate(daysSince1970: number): string {
  const shifted = daysSince1970 + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const leaps =
    Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365);
  const leapDays = Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100);
  const dayOfYear = dayOfEra - (yearOfEra * 365 + leapDays);
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
}

function padded(value: number, width: number): string {
  return String(value).padStart(width, '0');
}
