import { type Monotonic, monotonic } from '#base/units.ts';
import { longestUnused, othersTurn } from '#disruption/decision/decide.ts';
import type { Sightings } from '#disruption/elapsed.ts';
import type { Reservation } from '#disruption/reservation.ts';

/** Whose evictions were allowed for long without a break, as this process has seen: then others have their turn. */
export class EvictionTurns {
  /** Since when each pod has been given to an eviction, by uid. */
  #since: ReadonlyMap<string, Monotonic> = new Map();
  /** Until when pods are not given to an eviction again, by uid. */
  readonly #resting = new Map<string, Monotonic>();

  /** Takes what is reserved now. */
  saw(reservations: readonly Reservation[], now: Monotonic): void {
    const reserved = new Set(reservations.map(({ uid }) => uid));
    for (const [uid, since] of this.#since) {
      const hasEnded = !reserved.has(uid) && now - since >= longestUnused;
      if (hasEnded) this.#resting.set(uid, monotonic(now + othersTurn));
    }
    for (const [uid, until] of this.#resting) if (until <= now) this.#resting.delete(uid);
    const evicted = reservations.filter(({ claims }) => claims.some(({ by }) => by === 'eviction'));
    this.#since = endedTogether(
      new Map(evicted.map(({ uid }) => [uid, this.#since.get(uid) ?? now])),
      now,
    );
  }

  /** Returns the same as a ledger is decided on. */
  sightings(): Pick<Sightings, 'evictedSince' | 'resting'> {
    return { evictedSince: this.#since, resting: this.#resting };
  }
}

/**
 * Returns `since` with the turn of each pod ended where that of one has, unless it has only begun: a zone is free for others
 * when none of its pods is given away, and with ends of their own two pods that never go could keep it for ever.
 */
function endedTogether(
  since: ReadonlyMap<string, Monotonic>,
  now: Monotonic,
): ReadonlyMap<string, Monotonic> {
  const end = monotonic(now - longestUnused);
  if (![...since.values()].some((at) => at <= end)) return since;
  const begun = now - othersTurn;
  return new Map([...since].map(([uid, at]) => [uid, at <= begun && at > end ? end : at]));
}
