import type { Instant } from '#base/units.ts';
import { limitOf } from '#disruption/budget.ts';
import { Tally } from '#disruption/decision/tally.ts';
import type { LedgerMoment } from '#disruption/elapsed.ts';
import type { Reservation } from '#disruption/reservation.ts';
import type { Standing } from '#disruption/standing.ts';
import type { ByZone, ZoneBudgetStatus } from '../status.ts';

/** What a status shows. */
export interface Shown {
  readonly standing: Standing;
  /** The reservations of the ledger that have not ended. */
  readonly held: readonly Reservation[];
  readonly moment: LedgerMoment;
  /** The generation of the budget that {@link standing} is judged by. */
  readonly generation: number;
}

/**
 * Returns how the pods stand by zone, with all that is given away: what `disruptionsAllowed` says of a zone is how many healthy
 * pods of it the ledger would still give, were they asked for one after the other. Undefined while that is unknown, as the sets
 * or their pods are not known.
 */
export function projectStatus(shown: Shown): ZoneBudgetStatus | undefined {
  const { standing, held, moment, generation } = shown;
  const { sets, unreadable, budget } = standing;
  if (sets === undefined || unreadable.length > 0) return undefined;
  const tally = new Tally(standing, held, moment);
  const { healthy, unhealthy } = countByZone(shown, tally);
  const observed = mapZones(healthy, (zone, count) => count + (unhealthy.get(zone) ?? 0));
  const total = [...sets.values()].reduce((sum, { spec }) => sum + spec.replicas, 0);
  const expected = backFilled(observed, total);
  const limit = limitOf(budget.limit, undefined, [...sets.values()]) ?? 0;
  return {
    observedGeneration: generation,
    disruptedPods: disruptedPods(shown),
    disruptionsAllowed: allowedByZone({ healthy, unhealthy, limit }, tally),
    currentHealthy: healthy,
    currentUnhealthy: unhealthy,
    desiredHealthy: mapZones(expected, (_, count) => Math.max(0, count - limit)),
    expectedPods: expected,
  };
}

interface Counts {
  readonly healthy: ByZone;
  readonly unhealthy: ByZone;
}

/**
 * Returns how many places of each known zone are undisturbed, and how many are not; one without a pod is not (W-04). Both
 * have all zones, by name.
 */
function countByZone({ standing, held }: Shown, tally: Tally): Counts {
  const remembered = new Map(held.map(({ slot }) => [slot.pod, slot.zone]));
  const healthy = new Map<string, number>();
  const unhealthy = new Map<string, number>();
  for (const [name, { slot }] of standing.places) {
    // Of a pod that is gone the reservation may be all that remembers the zone.
    const zone = slot.zone ?? remembered.get(name);
    if (zone === undefined) continue;
    const isDisturbed = tally.disturbed(zone, undefined).has(name);
    healthy.set(zone, (healthy.get(zone) ?? 0) + (isDisturbed ? 0 : 1));
    unhealthy.set(zone, (unhealthy.get(zone) ?? 0) + (isDisturbed ? 1 : 0));
  }
  return { healthy: byName(healthy), unhealthy: byName(unhealthy) };
}

/**
 * Returns `observed` and, of `total`, what is seen in no known zone: one for each zone in turn, beginning where there are
 * fewest (ZDB-11); of zones with equally many the first by name.
 */
function backFilled(observed: ByZone, total: number): ByZone {
  const order = [...observed.keys()].toSorted(
    (one, other) => (observed.get(one) ?? 0) - (observed.get(other) ?? 0),
  );
  const seen = [...observed.values()].reduce((sum, count) => sum + count, 0);
  const missing = Math.max(0, total - seen);
  const [each, rest] = [Math.floor(missing / order.length), missing % order.length];
  const extra = new Map(order.map((zone, turn) => [zone, each + (turn < rest ? 1 : 0)]));
  return mapZones(observed, (zone, count) => count + (extra.get(zone) ?? 0));
}

/** Counts as the ledger judges: where another zone is disturbed, known or not, nothing may go. */
function allowedByZone(
  { healthy, unhealthy, limit }: Counts & { readonly limit: number },
  tally: Tally,
): ByZone {
  const disturbed = tally.zones().filter((zone) => tally.disturbed(zone, undefined).size > 0);
  return mapZones(healthy, (own, count) => {
    if (disturbed.some((zone) => zone !== own)) return 0;
    return Math.max(0, Math.min(count, limit - (unhealthy.get(own) ?? 0)));
  });
}

/**
 * Returns when each pod was given away last that is still there: another one of its name was not (W-11), and of one that is
 * going that is all there is to say (ZDB-13).
 */
function disruptedPods({ standing, held }: Shown): ReadonlyMap<string, Instant> {
  const disrupted = new Map<string, Instant>();
  for (const { uid, slot, claims } of held) {
    const place = standing.places.get(slot.pod);
    if (place?.pod?.uid !== uid || place.isLeaving) continue;
    const [last] = claims.map(({ at }) => at).toSorted((one, other) => other - one);
    if (last !== undefined) disrupted.set(slot.pod, last);
  }
  return disrupted;
}

function mapZones(zones: ByZone, change: (zone: string, count: number) => number): ByZone {
  return new Map([...zones].map(([zone, count]) => [zone, change(zone, count)]));
}

function byName(zones: ByZone): ByZone {
  return new Map([...zones].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
