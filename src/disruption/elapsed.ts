import { after, type Instant, type Millis, type Monotonic, millis } from '#base/units.ts';
import type { EvictionTurn } from './eviction-span.ts';
import type { Claim, Reservation } from './reservation.ts';

/** What this process has seen of the claims in a ledger itself, whatever the clocks of others say. */
export interface Sightings {
  readonly now: Monotonic;
  /** Since when each claim has been seen, by {@link keyOf}. */
  readonly since: ReadonlyMap<string, Monotonic>;
  /** uids of pods that were seen in their slots since they were seen to be given away. @default none */
  readonly inPlace?: ReadonlySet<string>;
  /** Those of the claims that this process stored itself, and when. @default none */
  readonly stored?: ReadonlyMap<string, Monotonic>;
  /** How long evictions have kept others out and come to nothing, by the keys of their spans. @default none */
  readonly turns?: ReadonlyMap<string, EvictionTurn>;
}

/** Names a claim of a reservation; a claim that was given again is another one. */
function keyOf({ uid }: Reservation, { by, at }: Claim): string {
  return `${uid} ${by} ${at}`;
}

/**
 * Returns what this process knows of the claims of `reservations` at `now`, after `before`. Called whenever a newer ledger
 * was read or written; without `before` it is the first.
 */
export function sight(
  reservations: readonly Reservation[],
  now: Monotonic,
  before?: Sightings,
): Sightings {
  const since = new Map<string, Monotonic>();
  for (const reservation of reservations) {
    for (const claim of reservation.claims) {
      const key = keyOf(reservation, claim);
      const known = before?.since.get(key);
      since.set(key, known ?? now);
    }
  }
  return { now, since };
}

/** When it is, by the wall clock, and by what this process has seen; without sightings only the stored times count. */
export interface LedgerMoment {
  readonly now: Instant;
  readonly sightings?: Sightings | undefined;
}

/**
 * Returns when `span` has passed since `claim` was given; not after now when it has. It runs from when this process saw the
 * claim first, by its own clock: who wrote the stored time may have another, and one that is minutes off would give a second
 * zone away. Without sightings it runs from the stored time.
 */
export function passedAt(
  { reservation, claim }: { readonly reservation: Reservation; readonly claim: Claim },
  span: Millis,
  { now, sightings }: LedgerMoment,
): Instant {
  const since = sightings?.since.get(keyOf(reservation, claim));
  if (sightings === undefined || since === undefined) return after(claim.at, span);
  return after(now, millis(span - (sightings.now - since)));
}

/** Returns how long ago this process stored `claim` itself, in milliseconds; undefined: another may have ended it since. */
export function storedFor(
  { reservation, claim }: { readonly reservation: Reservation; readonly claim: Claim },
  { now, sightings }: LedgerMoment,
): Millis | undefined {
  if (sightings === undefined) return millis(now - claim.at);
  const at = sightings.stored?.get(keyOf(reservation, claim));
  return at === undefined ? undefined : millis(sightings.now - at);
}

/** Returns when this process had seen all claims of `reservation`; undefined: it has not. */
export function seenSince(reservation: Reservation, { since }: Sightings): Monotonic | undefined {
  let latest: Monotonic | undefined;
  for (const claim of reservation.claims) {
    const at = since.get(keyOf(reservation, claim));
    if (at === undefined) return undefined;
    if (latest === undefined || at > latest) latest = at;
  }
  return latest;
}

/**
 * Reports whether what the view shows of the slot of `reservation` came after that was given: the view was proven since this
 * process saw all its claims, or showed the very pod in its slot since then, as no view goes back.
 */
export function isShownSince(
  reservation: Reservation,
  {
    sightings,
    viewProvenAt,
  }: { readonly sightings?: Sightings | undefined; readonly viewProvenAt?: Monotonic | undefined },
): boolean {
  if (sightings === undefined || sightings.inPlace?.has(reservation.uid) === true) return true;
  const since = seenSince(reservation, sightings);
  return viewProvenAt !== undefined && since !== undefined && since <= viewProvenAt;
}
