import type { Instant } from '#base/units.ts';

const daysPerEra = 146_097;
/** Days from 0000-03-01, where the eras of the proleptic Gregorian calendar start, to 1970-01-01. */
const daysToEpoch = 719_468;

/**
 * Returns `time` as RFC 3339 in UTC, without trailing zeros of the fraction (LG-4): `2026-01-02T03:04:05.12Z`. A fraction of
 * a millisecond is cut at the microsecond, which is as fine as an {@link Instant} can be.
 */
export function formatTimestamp(time: Instant): string {
  const seconds = Math.floor(time / 1_000);
  const microseconds = Math.floor((time - seconds * 1_000) * 1_000);
  const fraction = microseconds.toString().padStart(6, '0').replace(/0+$/, '');
  const days = Math.floor(seconds / 86_400);
  const secondOfDay = seconds - days * 86_400;
  const hour = two(Math.floor(secondOfDay / 3_600));
  const minute = two(Math.floor(secondOfDay / 60) % 60);
  const clock = `${hour}:${minute}:${two(secondOfDay % 60)}`;
  return `${formatDate(days)}T${clock}${fraction === '' ? '' : `.${fraction}`}Z`;
}

/** Returns the civil date `days` after 1970-01-01, counted in years that start in March so that leap days come last. */
function formatDate(days: number): string {
  const shifted = days + daysToEpoch;
  const era = Math.floor(shifted / daysPerEra);
  const dayOfEra = shifted - era * daysPerEra;
  const leapDays =
    Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${year.toString().padStart(4, '0')}-${two(month)}-${two(day)}`;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}
