import { type Instant, instant } from '#base/units.ts';

const DAY = 86_400_000;
const pattern =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)T(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)(?:\.(?<fraction>\d{1,9}))?Z$/;

/** Days from 1970-01-01 to a date of the proleptic Gregorian calendar; years begin in March to put leap days last. */
function daysOf(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const leapDays = Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100);
  return era * 146_097 + yearOfEra * 365 + leapDays + dayOfYear - 719_468;
}

function dateOf(days: number): readonly [year: number, month: number, day: number] {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const leap =
    Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leap) / 365);
  const before = 365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100);
  const dayOfYear = dayOfEra - before;
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth + (shiftedMonth < 10 ? 3 : -9);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  return [yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day];
}

function digits(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

/** An API timestamp in UTC such as `2026-01-01T00:00:00Z`, as an instant; undefined when `text` is none. */
export function parseTimestamp(text: string): Instant | undefined {
  const parts = pattern.exec(text)?.groups;
  if (parts === undefined) return undefined;
  const part = (name: string): number => Number(parts[name] ?? 0);
  const time = (part('hour') * 60 + part('minute')) * 60 + part('second');
  const fraction = Math.floor(Number(`0.${parts['fraction'] ?? '0'}`) * 1_000);
  return instant(daysOf(part('year'), part('month'), part('day')) * DAY + time * 1_000 + fraction);
}

/** `at` as an API timestamp in whole seconds, rounded down, such as `2026-01-01T00:00:00Z`. */
export function timestamp(at: Instant): string {
  const days = Math.floor(at / DAY);
  const time = Math.floor((at - days * DAY) / 1_000);
  const [year, month, day] = dateOf(days);
  const clock = [Math.floor(time / 3_600), Math.floor(time / 60) % 60, time % 60];
  return `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}T${clock.map((part) => digits(part, 2)).join(':')}Z`;
}

/** `at` as a lease timestamp in microseconds, such as `2026-01-01T00:00:00.250000Z`. */
export function microTimestamp(at: Instant): string {
  const fraction = Math.floor((at - Math.floor(at / 1_000) * 1_000) * 1_000);
  return timestamp(at).replace('Z', `.${digits(fraction, 6)}Z`);
}
