import { invalid, type Parsed, valid } from '#base/parsed.ts';

/** `maxUnavailable` as it is written: a number of pods, or a share of all that there are. */
export type MostUnavailable =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'percent'; readonly percent: number };

const highestInt32 = 2_147_483_647;

/** Returns how many of `replicas` pods one step may take at most; a share is rounded up. May be 0 or less. */
export function capOf(most: MostUnavailable, replicas: number): number {
  return most.kind === 'count' ? most.count : Math.ceil((most.percent * replicas) / 100);
}

/**
 * Returns how many pods step number `step` of a rollout may take, from 0 on: `factor` to the power of `step`, cut to a whole
 * number, and no more than `cap`; a factor of 0 takes as many as that at once. Below 1 the step takes none.
 */
export function limitOf(factor: number, step: number, cap: number): number {
  if (factor === 0) return cap;
  const grown = Math.trunc(Math.min(factor ** step, highestInt32));
  return Number.isNaN(grown) ? 0 : Math.min(grown, cap);
}

const wantedText = `must be an integer from ${-highestInt32 - 1} to ${highestInt32}, or a percentage such as "10%"`;

/** Reads `maxUnavailable`. */
export function parseMostUnavailable(value: unknown, path: string): Parsed<MostUnavailable> {
  if (typeof value === 'number' && isInt32(value)) return valid({ kind: 'count', count: value });
  const digits = typeof value === 'string' ? /^[+-]?\d{1,18}(?=%$)/.exec(value)?.[0] : undefined;
  if (digits !== undefined) return valid({ kind: 'percent', percent: Number(digits) });
  return invalid(
    path,
    `${wantedText}: got ${value === undefined ? 'nothing' : JSON.stringify(value)}`,
  );
}

function isInt32(value: number): boolean {
  return Number.isInteger(value) && value >= -highestInt32 - 1 && value <= highestInt32;
}
