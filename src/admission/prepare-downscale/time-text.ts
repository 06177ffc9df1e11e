import type { Instant } from '#base/units.ts';

/** Returns `at` as RFC 3339 in UTC and whole seconds: `2024-05-01T10:00:00Z`. */
export function wholeSeconds(at: Instant): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** Returns `at` as Go prints a time in UTC: `2024-05-01 10:00:00 +0000 UTC`. */
export function goTime(at: Instant): string {
  const iso = new Date(at).toISOString();
  const fraction = iso.slice(19, 23).replace(/\.?0+$/, '');
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}${fraction} +0000 UTC`;
}
