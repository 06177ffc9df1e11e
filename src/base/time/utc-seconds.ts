import type { Instant } from '../units.ts';

/** The farthest time that a Date can hold, in milliseconds to either side of 1970. */
const farthest = 8_640_000_000_000_000;

/**
 * Returns the instant as people read it: RFC 3339, UTC, whole seconds, rounded up, so that what waits until then has ended
 * when a clock shows it. Times beyond the year 275760 are shown as its end.
 */
export function formatUtcSeconds(at: Instant): string {
  const whole = Math.ceil(at / 1_000) * 1_000;
  const text = new Date(Math.max(-farthest, Math.min(whole, farthest))).toISOString();
  return text.replace('.000Z', 'Z');
}
