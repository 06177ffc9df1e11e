import { type Millis, millis } from '../units.ts';

/** How the waits between tries that fail grow. */
export interface Backoff {
  readonly first: Millis;
  readonly longest: Millis;
}

/** More doublings than take any first wait beyond the longest one. */
const mostDoublings = 60;

/** Returns the wait after `doublings` waits before it: the first one, doubled each time, at most the longest. */
export function backoffAfter(doublings: number, { first, longest }: Backoff): Millis {
  return millis(Math.min(longest, first * 2 ** Math.min(doublings, mostDoublings)));
}
