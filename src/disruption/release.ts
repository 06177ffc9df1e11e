/** When a reservation ends: by evidence, never because a condition or a container changed (BUDG-4). */
import { type Instant, type Millis, type Monotonic, seconds } from '#base/units.ts';
import { isShownSince, type LedgerMoment, passedAt } from './elapsed.ts';
import type { Place } from './place.ts';
import { type Claim, type Reservation, takesAnyPod, termOf } from './reservation.ts';
import type { Standing } from './standing.ts';

/**
 * How long a permission of another owner may still be used (D-50): an API server ends a request long before, and what
 * was refused elsewhere does not block the zone for longer.
 */
export const evictionLife: Millis = seconds(120);

/** The process that may void intents of our own: it holds the Lease. */
export interface Leader {
  readonly term: string;
  /**
   * Whether nothing that an earlier term sent can arrive any more, as it ended in good order or was waited out (D-50), and
   * the view was proven after that.
   */
  readonly arePredecessorsOver: boolean;
  /** Reports whether this process wants the pod away, or may have sent for that already. By uid. */
  isIntended(uid: string): boolean;
}

/** What the end of a reservation is judged by. */
export interface ReleaseMoment extends LedgerMoment {
  /** Absent on replicas that do not lead: these end no intent of our own. */
  readonly leader?: Leader | undefined;
  /** When the view of the pods and sets was proven; undefined: not at all. Says nothing where there are no sightings. */
  readonly viewProvenAt?: Monotonic | undefined;
}

/** Returns what is left of `reservation`; itself where nothing ended, undefined where it ended. */
export function remainderOf(
  reservation: Reservation,
  standing: Standing,
  moment: ReleaseMoment,
): Reservation | undefined {
  // Where something could not be read, nothing is evidence.
  if (standing.sets === undefined || standing.unreadable.length > 0) return reservation;
  const place = standing.places.get(reservation.slot.pod);
  const isInView = isSetInView(reservation, standing);
  if (isInView && (place === undefined || isTakenOver(place, reservation))) {
    // A view that is older than the reservation shows what was there before.
    return isShownSince(reservation, moment) ? undefined : reservation;
  }
  const claims = reservation.claims.filter((claim) =>
    isInView && place !== undefined
      ? !isOver({ reservation, claim }, place, moment)
      : !isForgotten({ reservation, claim }, moment),
  );
  if (claims.length === reservation.claims.length) return reservation;
  return claims.length === 0 ? undefined : { ...reservation, claims };
}

/** Reports whether the set of the slot is under the budget now: one that left it may come back, with the pod on its way. */
export function isSetInView({ slot }: Reservation, { sets }: Standing): boolean {
  if (slot.set === undefined) return true;
  return [...(sets?.values() ?? [])].some(({ name }) => name === slot.set);
}

/** Reports whether a claim on a pod that is not seen any more has happened by now, or never will. */
function isForgotten({ reservation, claim }: ClaimOf, moment: ReleaseMoment): boolean {
  const term = termOf(claim);
  if (term !== undefined && !isWithoutIntent(term, { reservation, claim }, moment)) return false;
  return passedAt({ reservation, claim }, evictionLife, moment) <= moment.now;
}

/** Reports whether another pod than the one given away is available in its slot: what was permitted has come to its end. */
function isTakenOver({ pod, isAvailable }: Place, reservation: Reservation): boolean {
  return isAvailable && pod?.uid !== reservation.uid && !takesAnyPod(reservation);
}

interface ClaimOf {
  readonly reservation: Reservation;
  readonly claim: Claim;
}

function isOver({ reservation, claim }: ClaimOf, place: Place, moment: ReleaseMoment): boolean {
  if (place.pod?.uid !== reservation.uid) return isOverIn(place, { reservation, claim }, moment);
  const term = termOf(claim);
  if (term !== undefined) {
    return !place.isLeaving && isWithoutIntent(term, { reservation, claim }, moment);
  }
  return place.isAvailable && passedAt({ reservation, claim }, evictionLife, moment) <= moment.now;
}

/** Reports the same where another pod is in the slot by now, or none. */
function isOverIn(place: Place, { reservation, claim }: ClaimOf, moment: ReleaseMoment): boolean {
  if (!place.isAvailable || !isShownSince(reservation, moment)) return false;
  return claim.by !== 'scale-down' || isWithoutIntent(claim.term, { reservation, claim }, moment);
}

/**
 * Reports whether an intent of `term` cannot lead to anything any more: it is of the past, or was dropped before it was
 * sent. Of one that was made under another Lease it is unknown here whether its process lives: it counts for as long as a
 * permission of another owner.
 */
function isWithoutIntent(term: string, claimed: ClaimOf, moment: ReleaseMoment): boolean {
  const { leader, now } = moment;
  if (leader === undefined) return false;
  if (leader.term === term) return !leader.isIntended(claimed.reservation.uid);
  if (leaseOf(leader.term) === leaseOf(term)) return leader.arePredecessorsOver;
  return passedAt(claimed, evictionLife, moment) <= now;
}

/** Returns the Lease that a term is of, which stands first in it; empty where a process leads without one. */
function leaseOf(term: string): string {
  return term.slice(0, Math.max(0, term.indexOf('/')));
}

/**
 * Returns when `reservation` of a pod that stays ends by time alone; undefined: it does not, as it is an intent of our own,
 * or as its pod is no longer there to show that nothing happened.
 */
export function endsAt(
  reservation: Reservation,
  place: Place | undefined,
  moment: LedgerMoment,
): Instant | undefined {
  if (place?.pod?.uid !== reservation.uid || place.isLeaving) return undefined;
  let last: Instant | undefined;
  for (const claim of reservation.claims) {
    if (claim.by !== 'eviction') return undefined;
    const end = passedAt({ reservation, claim }, evictionLife, moment);
    if (last === undefined || end > last) last = end;
  }
  return last;
}
