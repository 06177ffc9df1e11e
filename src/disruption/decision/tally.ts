import { getOrAdd } from '#base/get-or-add.ts';
import type { Instant } from '#base/units.ts';
import type { LedgerMoment } from '../elapsed.ts';
import type { Obstacle } from '../obstacle.ts';
import type { Place } from '../place.ts';
import { endsAt } from '../release.ts';
import { type Reservation, takesAnyPod } from '../reservation.ts';
import type { Standing } from '../standing.ts';

type Name = string | undefined;

/** A reservation, and where its slot stands now. */
interface Taken {
  readonly reservation: Reservation;
  readonly place: Place;
}

/** What is reserved in one cell of the standing. */
interface ReservedCell {
  readonly taken: Taken[];
  /** The cell with what is reserved; undefined until a caller asks. */
  disturbed: ReadonlyMap<string, Obstacle> | undefined;
}

const none: ReadonlyMap<string, Obstacle> = new Map();

/**
 * What is disturbed under a budget with what is reserved: each slot once, whatever the reasons. Lives for the requests of
 * one moment; a reservation that is granted among them counts for the next. Only cells that are asked for are worked out.
 */
export class Tally {
  readonly standing: Standing;
  readonly #moment: LedgerMoment;
  readonly #reserved = new Map<Name, Map<Name, ReservedCell>>();
  /** Pods of unknown zones, except for what was noted when they were given away. */
  readonly #remembered = new Set<string>();

  constructor(standing: Standing, reservations: Iterable<Reservation>, moment: LedgerMoment) {
    this.standing = standing;
    this.#moment = moment;
    for (const reservation of reservations) this.add(reservation);
  }

  /** Counts the slot of `reservation` from now on, if it does not count already. */
  add(reservation: Reservation): void {
    const { pod, zone } = reservation.slot;
    const place = this.standing.places.get(pod) ?? vacated(reservation);
    if (!place.isCounted) return;
    // Of a pod that is gone the reservation may be all that remembers the zone.
    if (place.slot.zone === undefined && zone !== undefined) this.#remembered.add(pod);
    const cell = this.#cell(place.slot.zone ?? zone, place.partition);
    cell.taken.push({ reservation, place });
    cell.disturbed = undefined;
  }

  /** Returns all zones in the order in which they are named. */
  zones(): readonly Name[] {
    return [...new Set([...this.standing.zones.keys(), ...this.#reserved.keys()])];
  }

  /** Returns what is disturbed in `zone`, all of it or of `partition`, by the name of the pod. */
  disturbed(zone: Name, partition: Name): ReadonlyMap<string, Obstacle> {
    const before = this.#before(zone, partition);
    const reserved = this.#reserved.get(zone)?.get(partition);
    if (reserved === undefined) return before;
    if (reserved.disturbed !== undefined) return reserved.disturbed;
    const disturbed = new Map(before);
    for (const { reservation, place } of reserved.taken) {
      const { pod } = reservation.slot;
      const known = disturbed.get(pod) ?? place.obstacle;
      disturbed.set(pod, this.#obstacle(reservation, place, known));
    }
    reserved.disturbed = disturbed;
    return disturbed;
  }

  /** Returns what is disturbed there whatever is reserved. */
  #before(zone: Name, partition: Name): ReadonlyMap<string, Obstacle> {
    const disturbed = this.standing.zones.get(zone)?.get(partition) ?? none;
    if (zone !== undefined || this.#remembered.size === 0) return disturbed;
    return new Map([...disturbed].filter(([pod]) => !this.#remembered.has(pod)));
  }

  #cell(zone: Name, partition: Name): ReservedCell {
    const cells = getOrAdd(this.#reserved, zone, () => new Map<Name, ReservedCell>());
    return getOrAdd(cells, partition, () => ({ taken: [], disturbed: undefined }));
  }

  #obstacle(reservation: Reservation, place: Place, known: Obstacle | undefined): Obstacle {
    const { pod } = reservation.slot;
    const askers = reservation.claims.map(({ by }) => by);
    const end = endsAt(reservation, place, this.#moment);
    if (known === undefined) return { pod, why: 'reserved', reservedBy: askers, until: end };
    const reservedBy = [...new Set([...known.reservedBy, ...askers])];
    // Once another pod is available there, the reservation ends with what is in the way now.
    const isReplaced = place.pod !== undefined && place.pod.uid !== reservation.uid;
    const endsThen = isReplaced && !takesAnyPod(reservation);
    return { ...known, reservedBy, until: endsThen ? known.until : later(known.until, end) };
  }
}

/** Returns the place of a slot whose set is not under the budget any more, nor its pod: what was given away there still counts. */
function vacated({ slot }: Reservation): Place {
  return {
    slot,
    partition: undefined,
    isCounted: slot.zone !== undefined,
    pod: undefined,
    isAvailable: false,
    isLeaving: false,
    obstacle: { pod: slot.pod, why: 'missing', reservedBy: [], until: undefined },
    problem: undefined,
  };
}

/** Returns the later of two times; undefined where one of them is. */
function later(one: Instant | undefined, other: Instant | undefined): Instant | undefined {
  if (one === undefined || other === undefined) return undefined;
  return one > other ? one : other;
}
