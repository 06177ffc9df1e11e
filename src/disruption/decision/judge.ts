import { assertNever } from '#base/assert-never.ts';
import type { Instant } from '#base/units.ts';
import { limitOf } from '../budget.ts';
import { isUnknown, type Obstacle } from '../obstacle.ts';
import type { Place } from '../place.ts';
import type { Asker } from '../reservation.ts';
import type { Standing } from '../standing.ts';
import type { CountedSpan, Denial } from './denial.ts';
import type { Tally } from './tally.ts';

/** Which pod is to be disturbed. */
export interface Candidate {
  readonly name: string;
  readonly uid: string;
  readonly controllerUid: string | undefined;
}

/** A question to a budget. */
export interface BudgetQuestion {
  readonly pod: Candidate;
  readonly by: Asker;
  /** Used where the limit is 0. @default none */
  readonly override?: number | undefined;
}

/** Either what prevents it, or where the candidate stands and how many slots may be disturbed. */
type Found<T> =
  | { readonly kind: 'found'; readonly value: T }
  | { readonly kind: 'denied'; readonly denial: Denial };

/**
 * Returns why the pod of `question` may not be disturbed, with all that is disturbed and reserved now; undefined: it may.
 * Its own slot never counts against it, so that a reservation of its own uid is a permission and no slot taken.
 */
export function denialOf(question: BudgetQuestion, tally: Tally): Denial | undefined {
  const limit = limitFor(question, tally);
  if (limit.kind === 'denied') return limit.denial;
  const place = placeOf(question, tally);
  return place.kind === 'denied'
    ? place.denial
    : disturbanceOf(place.value, { ...question, limit: limit.value }, tally);
}

/** Returns the limit, with the override; a budget over too little to be kept has none. */
function limitFor(question: BudgetQuestion, { standing }: Tally): Found<number> {
  const { budget, sets } = standing;
  const limit = statedLimit(question, standing);
  if (limit !== undefined && limit <= 0) return denied({ kind: 'nothing-allowed' });
  if (sets === undefined) return denied({ kind: 'sets-unreadable' });
  const found = sets.size;
  // Where sets are zones, one alone has nothing to be compared with.
  if (budget.mode.kind !== 'zones-of-nodes' && found < 2) {
    return denied({ kind: 'too-few-sets', found });
  }
  if (limit === undefined) return denied({ kind: 'set-not-governed' });
  return { kind: 'found', value: limit };
}

function statedLimit(
  { pod, override }: BudgetQuestion,
  { budget, sets }: Standing,
): number | undefined {
  const own = sets?.get(pod.controllerUid ?? '');
  const limit = limitOf(budget.limit, own, sets && [...sets.values()]);
  return limit === 0 ? (override ?? 0) : limit;
}

/** Returns where the candidate stands, if all that is to be counted can be seen. */
function placeOf({ pod }: BudgetQuestion, { standing }: Tally): Found<Place> {
  if (!isGoverned(pod, standing)) return denied({ kind: 'set-not-governed' });
  const [set] = standing.unreadable;
  if (set !== undefined) return denied({ kind: 'pods-unreadable', set });
  const place = standing.places.get(pod.name);
  if (place?.pod?.uid !== pod.uid) {
    return denied({ kind: 'pod-not-seen', seenUid: place?.pod?.uid });
  }
  const denial = whereaboutsOf(place, standing);
  return denial === undefined ? { kind: 'found', value: place } : denied(denial);
}

/** Reports whether what controls the pod is under the budget; where nothing does, whether the pod itself is. */
function isGoverned({ name, controllerUid }: Candidate, { sets, places }: Standing): boolean {
  return controllerUid === undefined
    ? places.has(name) && places.get(name)?.slot.set === undefined
    : sets?.has(controllerUid) === true;
}

function whereaboutsOf({ partition, slot }: Place, { budget }: Standing): Denial | undefined {
  const { kind } = budget.mode;
  if (kind === 'partitions' && partition === undefined) return { kind: 'no-partition' };
  return slot.zone === undefined ? { kind: 'no-zone' } : undefined;
}

function denied(denial: Denial): Found<never> {
  return { kind: 'denied', denial };
}

interface Limited extends BudgetQuestion {
  readonly limit: number;
}

function disturbanceOf(place: Place, question: Limited, tally: Tally): Denial | undefined {
  const { kind } = tally.standing.budget.mode;
  switch (kind) {
    case 'zones-of-sets':
    case 'zones-of-nodes':
      return zoneDenial(place, question, tally);
    case 'partitions':
      return partitionDenial(place, question, tally);
    default:
      return assertNever(kind);
  }
}

/** Returns what prevents it by zones: every other zone must be wholly undisturbed, and the own one below the limit. */
function zoneDenial(place: Place, { by, limit }: Limited, tally: Tally): Denial | undefined {
  const own = place.slot.zone;
  for (const zone of tally.zones()) {
    const disturbed = tally.disturbed(zone, undefined);
    if (zone !== own && disturbed.size > 0) {
      return disturbedIn({ kind: 'zone', zone }, [...disturbed.values()], 1);
    }
  }
  // A scale-down takes several slots at once, and they count for exclusion only (D-17).
  if (by === 'scale-down') return undefined;
  const others = without(tally.disturbed(own, undefined), place.slot.pod);
  return disturbedIn({ kind: 'zone', zone: own }, others, limit);
}

/**
 * Returns what prevents it by partitions: fewer replicas of the partition than the limit are disturbed in the other
 * zones.
 */
function partitionDenial(
  { slot, partition }: Place,
  { by, limit }: Limited,
  tally: Tally,
): Denial | undefined {
  if (partition === undefined) return { kind: 'no-partition' };
  const obstacles = tally.zones().flatMap((zone) => {
    if (zone === slot.zone) return [];
    const anyPartition = tally.disturbed(zone, undefined);
    const found = [...tally.disturbed(zone, partition).values(), ...anyPartition.values()];
    const hasPeer = tally.standing.zones.get(zone)?.has(partition) === true;
    return hasPeer || found.length > 0 || by === 'scale-down' ? found : [noPeer(zone)];
  });
  return disturbedIn({ kind: 'partition', partition }, obstacles, limit);
}

/**
 * Returns the obstacle of a peer that should exist and is not seen. In a scale-down the zones give up a partition one after
 * the other, and the last one of it has no peer any more.
 */
function noPeer(zone: string | undefined): Obstacle {
  return { pod: zone ?? '', why: 'no-peer', reservedBy: [], until: undefined };
}

function without(disturbed: ReadonlyMap<string, Obstacle>, pod: string): readonly Obstacle[] {
  const all = [...disturbed.values()];
  return disturbed.has(pod) ? all.filter((each) => each.pod !== pod) : all;
}

/** Returns the denial when there are as many `obstacles` as `limit`, or more. */
function disturbedIn(
  span: CountedSpan,
  obstacles: readonly Obstacle[],
  limit: number,
): Denial | undefined {
  if (obstacles.length < limit) return undefined;
  const unknown = obstacles.filter(isUnknown).length;
  return {
    kind: 'disturbed',
    span,
    notReady: obstacles.length - unknown,
    unknown,
    tolerated: limit - 1,
    obstacles,
    until: whenFewerThan(limit, obstacles),
  };
}

/** Returns when so many of `obstacles` have ended by time alone that fewer than `limit` are left; undefined: too few do. */
function whenFewerThan(limit: number, obstacles: readonly Obstacle[]): Instant | undefined {
  const ends = obstacles.flatMap(({ until }) => until ?? []).toSorted((a, b) => a - b);
  return ends[obstacles.length - limit];
}
