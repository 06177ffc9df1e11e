import { after, type Instant, type Millis, type Monotonic, millis } from '#base/units.ts';
import type { Claim, Reservation } from './reservation.ts';

/** What this process has seen of the claims in a ledger itself, whatever the clocks of others say. */
export interface Sightings {
  readonly now: Monotonic;
  /** Since when each claim has been seen, by {@link keyOf}. */
  readonly since: ReadonlyMap<string, Monotonic>;
  /** Those of them that this process saw to come, as it knew the ledger before. */
  readonly witnessed: ReadonlySet<string>;
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
 * How long ago `claim` was given. It runs from its stored time, one to come counting as now, and is at least what this
 * process has watched (D-55). Where it saw the claim come, only its own clock counts: one that steps ends nothing early.
 */
function elapsed(reservation: Reservation, claim: Claim, { now, sightings }: LedgerMoment): Millis {
  const key = keyOf(reservation, claim);
  const since = sightings?.since.get(key);
  const told = Math.max(0, now - claim.at);
  if (sightings === undefined || since === undefined) return millis(told);
  const watched = sightings.now - since;
  return millis(sightings.witnessed.has(key) ? watched : Math.max(told, watched));
}

/** When `span` has passed since `claim` was given, as this process knows it; not after now when it has. */
export function passedAt(
  { reservation, claim }: { readonly reservation: Reservation; readonly claim: Claim },
  span: Millis,
  moment: LedgerMoment,
): Instant {
  return after(moment.now, millis(span - elapsed(reservation, claim, moment)));
}
