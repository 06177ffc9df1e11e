import type { Instant } from '#base/units.ts';
import type { LedgerMoment } from './elapsed.ts';
import type { Obstacle } from './obstacle.ts';
import type { Place } from './place.ts';
import { endsAt } from './release.ts';
import type { Reservation } from './reservation.ts';
import type { Standing } from './standing.ts';

type Name = string | undefined;

const none: ReadonlyMap<string, Obstacle> = new Map();

/**
 * What is disturbed under a budget with what is reserved: each slot once, whatever the reasons. Lives for the requests of
 * one moment; a reservation that is granted among them counts for the next.
 */
export class Tally {
  readonly standing: Standing;
  readonly #moment: LedgerMoment;
  /** What differs from the standing, by zone and partition. */
  readonly #reserved = new Map<Name, Map<Name, Map<string, Obstacle>>>();

  constructor(standing: Standing, reservations: Iterable<Reservation>, moment: LedgerMoment) {
    this.standing = standing;
    this.#moment = moment;
    for (const reservation of reservations) this.add(reservation);
  }

  /** Counts the slot of `reservation` from now on, if it does not count already. */
  add(reservation: Reservation): void {
    const { pod, zone } = reservation.slot;
    const place = this.standing.places.get(pod);
    if (place?.isCounted !== true) return;
    const { slot, partition } = place;
    // Of a pod that is gone the reservation may be all that remembers the zone.
    const zoneNow = slot.zone ?? zone;
    const known =
      this.disturbed(zoneNow, partition).get(pod) ?? this.disturbed(slot.zone, partition).get(pod);
    if (slot.zone !== zoneNow) this.#own(slot.zone, partition).delete(pod);
    this.#own(zoneNow, partition).set(pod, this.#obstacle(reservation, place, known));
  }

  /** All zones in the order in which they are named. */
  zones(): readonly Name[] {
    return [...new Set([...this.standing.zones.keys(), ...this.#reserved.keys()])];
  }

  /** What is disturbed in `zone`, all of it or of `partition`, by the name of the pod. */
  disturbed(zone: Name, partition: Name): ReadonlyMap<string, Obstacle> {
    return (
      this.#reserved.get(zone)?.get(partition) ??
      this.standing.zones.get(zone)?.get(partition)?.disturbed ??
      none
    );
  }

  /** A copy of what is disturbed there, to be changed. */
  #own(zone: Name, partition: Name): Map<string, Obstacle> {
    const cells = this.#reserved.get(zone) ?? new Map<Name, Map<string, Obstacle>>();
    const own = cells.get(partition) ?? new Map(this.disturbed(zone, partition));
    this.#reserved.set(zone, cells.set(partition, own));
    return own;
  }

  #obstacle(reservation: Reservation, place: Place, known: Obstacle | undefined): Obstacle {
    const { pod } = reservation.slot;
    const askers = reservation.claims.map(({ by }) => by);
    const end = endsAt(reservation, place, this.#moment);
    if (known === undefined) return { pod, why: 'reserved', reservedBy: askers, until: end };
    const reservedBy = [...new Set([...known.reservedBy, ...askers])];
    // Once another pod is available there, the reservation ends with what is in the way now.
    const isReplaced = place.pod !== undefined && place.pod.uid !== reservation.uid;
    return { ...known, reservedBy, until: isReplaced ? known.until : later(known.until, end) };
  }
}

/** The later of two times; undefined where one of them is. */
function later(one: Instant | undefined, other: Instant | undefined): Instant | undefined {
  if (one === undefined || other === undefined) return undefined;
  return one > other ? one : other;
}
