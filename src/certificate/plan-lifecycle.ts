import {
  after,
  type Instant,
  instant,
  type Millis,
  millis,
  minutes,
  seconds,
} from '#base/units.ts';
import type { Leaf } from './api.ts';

/** Clocks of replicas and of the API server may differ by this much without a failed request. */
export const skew: Millis = minutes(5);
/** The Secret cannot be watched: the longest time until its news is known. */
export const longestPoll: Millis = minutes(1);
/** How long a CA must have been seen in every configuration: other API servers see it later than we do. */
const longestSettle = millis(30_000);

/** The writer of the Secret says when to look at it again; not sooner than this. */
const shortestPause = seconds(5);

/** Instants in the life of a certificate; all follow from it alone, so that every replica finds the same. */
export interface Lifecycle {
  /** A next one is prepared: 2/3 of the life (D-28). */
  readonly renewAt: Instant;
  /** The next one is served, where the CA bundles are ours to write: 5/6 of the life. */
  readonly switchAt: Instant;
  /** The next one is served whatever the webhook configurations trust. */
  readonly latestSwitch: Instant;
  /** Time between two looks at the Secret: at most 1/4 of the time between renewal and switch. */
  readonly poll: Millis;
  /** How long a CA must have been published before what it vouches for is served. */
  readonly settle: Millis;
}

/** Reports whether clients with about the right time accept `leaf`: it has begun, and has not ended. */
export function isUsable(leaf: Leaf, now: Instant): boolean {
  return hasBegun(leaf, now) && leaf.notAfter > now;
}

/**
 * Reports whether `leaf` is valid by now. What a replica issues whose clock is ahead by less than {@link skew} has begun for
 * all others; beyond that the replica whose clock is behind replaces it, by one that has begun for all: the two do not
 * fight.
 */
export function hasBegun({ notBefore }: Leaf, now: Instant): boolean {
  return notBefore <= after(now, skew);
}

/**
 * Returns the shortest time between two looks at the Secret, whatever it holds. Shorter than 5 s only where certificates are
 * asked for that last less than two minutes. @param expiration of the certificates that are issued here
 */
export function pauseBetweenLooks(expiration: Millis): Millis {
  return millis(Math.min(shortestPause, expiration / 24));
}

/** Returns the instants of `leaf`. */
export function lifecycle({ notBefore, notAfter }: Leaf): Lifecycle {
  const life = notAfter - notBefore;
  const part = millis(life / 24);
  return {
    renewAt: instant(notBefore + (life * 2) / 3),
    switchAt: instant(notBefore + (life * 5) / 6),
    latestSwitch: instant(notAfter - Math.min(skew, part)),
    poll: millis(Math.min(longestPoll, part)),
    settle: millis(Math.min(longestSettle, part)),
  };
}
