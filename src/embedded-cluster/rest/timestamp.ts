import type { Instant } from '#base/units.ts';

/** RFC 3339 in whole seconds, as `metav1.Time` is written (HT-9). */
export function timestamp(at: Instant): string {
  return `${new Date(Math.floor(at / 1_000) * 1_000).toISOString().slice(0, 19)}Z`;
}

/** `text` moved by `seconds`. */
export function shiftTimestamp(text: string, seconds: number): string {
  return `${new Date(Date.parse(text) + seconds * 1_000).toISOString().slice(0, 19)}Z`;
}
