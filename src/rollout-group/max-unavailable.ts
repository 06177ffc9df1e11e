import { invalid, type Parsed, valid } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';

/** The parsed `rollout-max-unavailable` (IN-12): a number of pods, or a share of the set's replicas. */
export type MaxUnavailable =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'percent'; readonly percent: number };

const integer = /^[+-]?\d+$/;

/** What the field's 32-bit integers hold; the peer cannot read more either. */
const greatest = 2_147_483_647;

/** Used where the annotation is absent or cannot be read. */
export const defaultMaxUnavailable: MaxUnavailable = Object.freeze({ kind: 'count', count: 1 });

/**
 * Parses `rollout-max-unavailable` (IN-25): an integer from 1 to 2147483647, or `1%` to `100%`; surrounding white space, a leading
 * `+` and leading zeros are accepted. Percentages outside the range are refused, not clamped.
 */
export function parseMaxUnavailable(raw: string, path: string): Parsed<MaxUnavailable> {
  const text = raw.trim();
  const isPercent = text.endsWith('%');
  const digits = isPercent ? text.slice(0, -1) : text;
  const value = integer.test(digits) ? Number(digits) : Number.NaN;
  if (isPercent && value >= 1 && value <= 100) return valid({ kind: 'percent', percent: value });
  if (!isPercent && value >= 1 && value <= greatest) return valid({ kind: 'count', count: value });
  return invalid(
    path,
    `must be an integer from 1 to ${greatest}, or a percentage from "1%" to "100%": got ${quoted(raw)}`,
  );
}

/** Returns how many pods of a set of `replicas` may be unavailable at once: a percentage is rounded down, at least 1. */
export function limitOf(maxUnavailable: MaxUnavailable, replicas: number): number {
  return maxUnavailable.kind === 'count'
    ? maxUnavailable.count
    : Math.max(1, Math.floor((replicas * maxUnavailable.percent) / 100));
}
