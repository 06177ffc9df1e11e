/**
 * How the slots under a budget stand at one instant. It is made once for all requests of that instant, so that a request costs
 * a look at its zones, and not at each pod.
 */
import { getOrAdd } from '#base/get-or-add.ts';
import type { Problem } from '#base/parsed.ts';
import type { Instant } from '#base/units.ts';
import { isTooLarge } from '#statefulset/parse-ordinal.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { Budget } from './budget.ts';
import type { Obstacle } from './obstacle.ts';
import { leftPlace, type Place, placesOf, unmanagedPlace } from './place.ts';
import type { SlotRef } from './reservation.ts';
import type { DisruptionSnapshot, GovernedSet } from './snapshot.ts';

/** Of the slots of one zone that count together, all of them or those of one partition, the disturbed ones by the name of the pod. */
export type Cell = ReadonlyMap<string, Obstacle>;

/** The cells of a zone by partition; under undefined what belongs to no partition that is known, or to all. */
export type ZoneCells = ReadonlyMap<string | undefined, Cell>;

/** How the slots under a budget stand, whatever is reserved. */
export interface Standing {
  readonly budget: Budget;
  /** The sets under the budget by uid; undefined where they could not be read. */
  readonly sets: ReadonlyMap<string, StatefulSetView> | undefined;
  /** The sets whose pods could not be read, or that are too large to be looked at (D-56). */
  readonly unreadable: readonly string[];
  /** Every slot, and every pod, under the budget by the name of the pod. */
  readonly places: ReadonlyMap<string, Place>;
  /** Kept in the order in which zones are named; under undefined what is disturbed in an unknown zone. */
  readonly zones: ReadonlyMap<string | undefined, ZoneCells>;
  /** What of the pods could not be read, and was passed over. */
  readonly problems: readonly Problem[];
  /** When it changes by time alone, at the earliest; undefined: it does not. */
  readonly changesAt: Instant | undefined;
}

/** Returns the slot of the pod `name`; of one that is not seen nothing but the name is known. */
export function slotIn({ places }: Standing, name: string): SlotRef {
  return places.get(name)?.slot ?? { pod: name, set: undefined, zone: undefined };
}

/**
 * Returns how `snapshot` stands under `budget` at `now`. It may be kept while the snapshot stays, until
 * {@link Standing.changesAt}.
 */
export function standingOf(budget: Budget, snapshot: DisruptionSnapshot, now: Instant): Standing {
  const { sets } = snapshot;
  const context = { mode: budget.mode, snapshot, now };
  const areNodes = budget.mode.kind === 'zones-of-nodes';
  const places = [
    ...(areNodes ? (snapshot.unmanaged ?? []) : []).map((pod) => unmanagedPlace(pod, context)),
    ...(sets?.filter(isReadable) ?? []).flatMap((each) => placesOf(each, context)),
    ...(snapshot.left ?? []).map((pod) => leftPlace(pod)),
  ];
  return {
    budget,
    sets: sets && new Map(sets.map(({ set }) => [set.uid, set])),
    unreadable: (sets ?? []).filter((each) => !isReadable(each)).map(({ set }) => set.name),
    places: new Map(places.map((place) => [place.slot.pod, place])),
    // Where sets are zones, one without slots is a zone, too.
    zones: zonesOf(places, areNodes ? [] : (sets ?? [])),
    problems: places.flatMap(({ problem }) => problem ?? []),
    changesAt: earliest(places.flatMap(({ obstacle }) => obstacle?.until ?? [])),
  };
}

function isReadable({ set, pods }: GovernedSet): boolean {
  return pods !== undefined && !isTooLarge(set);
}

function zonesOf(places: readonly Place[], sets: readonly GovernedSet[]): Standing['zones'] {
  const zones = new Map<string | undefined, Map<string | undefined, Map<string, Obstacle>>>(
    sets.map(({ set }) => [set.name, new Map()]),
  );
  for (const { slot, partition, obstacle, isCounted } of places) {
    if (!isCounted) continue;
    const cells = getOrAdd(
      zones,
      slot.zone,
      () => new Map<string | undefined, Map<string, Obstacle>>(),
    );
    const cell = getOrAdd(cells, partition, () => new Map<string, Obstacle>());
    if (obstacle !== undefined) cell.set(slot.pod, obstacle);
  }
  return zones;
}

function earliest(times: readonly Instant[]): Instant | undefined {
  return times.reduce<Instant | undefined>(
    (first, time) => (first === undefined || time < first ? time : first),
    undefined,
  );
}
