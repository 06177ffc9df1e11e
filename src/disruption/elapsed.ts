import { after, type Instant, instant, type Millis, type Monotonic, millis } from '#base/units.ts';
import type { Claim, Reservation } from './reservation.ts';

/** What this process has seen of the claims in a ledger itself, whatever the clocks of others say. */
export interface Sightings {
  readonly now: Monotonic;
  /** Since when each claim has been seen, by {@link keyOf}. */
  readonly since: ReadonlyMap<string, Monotonic>;
  /** Those of them that this process saw to come, as it knew the ledger before. */
  readonly witnessed: ReadonlySet<string>;
  /** uids of pods that were seen in their slots since they were seen to be given away. @default none */
  readonly inPlace?: ReadonlySet<string>;
}

/** Which claim of which reservation; a claim that was given anew is another one. */
function keyOf({ uid }: Reservation, { by, at }: Claim): string {
  return `${uid} ${by} ${at}`;
}

/**
 * What this process knows of the claims of `reservations` at `now`, after `before`. Called whenever a newer ledger was
 * read or written; without `before` it is the first.
 */
export function sight(
  reservations: readonly Reservation[],
  now: Monotonic,
  before?: Sightings,
): Sightings {
  const since = new Map<string, Monotonic>();
  const witnessed = new Set<string>();
  for (const reservation of reservations) {
    for (const claim of reservation.claims) {
      const key = keyOf(reservation, claim);
      const known = before?.since.get(key);
      since.set(key, known ?? now);
      const isNew = before !== undefined && known === undefined;
      if (isNew || before?.witnessed.has(key) === true) witnessed.add(key);
    }
  }
  return { now, since, witnessed };
}

/** When it is, by the wall clock, and by what this process has seen; without sightings only the stored times count. */
export interface LedgerMoment {
  readonly now: Instant;
  readonly sightings?: Sightings | undefined;
}

/**
 * When `span` has passed since `claim` was given; not after now when it has. It runs from its stored time, and ends at the
 * latest when this process has watched it pass (D-55). Where it saw the claim come, only its own clock counts: a wall clock
 * that steps ends nothing early.
 */
export function passedAt(
  { reservation, claim }: { readonly reservation: Reservation; readonly claim: Claim },
  span: Millis,
  { now, sightings }: LedgerMoment,
): Instant {
  const key = keyOf(reservation, claim);
  const told = after(claim.at, span);
  const since = sightings?.since.get(key);
  if (sightings === undefined || since === undefined) return told;
  const watched = after(now, millis(span - (sightings.now - since)));
  return sightings.witnessed.has(key) ? watched : instant(Math.min(told, watched));
}

/**
 * Whether what the view shows of the slot of `reservation` came after that was given: the view was proven since this process
 * saw all its claims, or showed the very pod in its slot since then, as no view goes back.
 */
export function isShownSince(
  reservation: Reservation,
  {
    sightings,
    viewProvenAt,
  }: { readonly sightings?: Sightings | undefined; readonly viewProvenAt?: Monotonic | undefined },
): boolean {
  if (sightings === undefined || sightings.inPlace?.has(reservation.uid) === true) return true;
  if (viewProvenAt === undefined) return false;
  return reservation.claims.every((claim) => {
    const since = sightings.since.get(keyOf(reservation, claim));
    return since !== undefined && since <= viewProvenAt;
  });
}
