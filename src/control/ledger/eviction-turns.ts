import { type Monotonic, minutes } from '#base/units.ts';
import {
  type EvictionSpan,
  type EvictionTurn,
  othersTurn,
  spansOf,
} from '#disruption/eviction-span.ts';
import { isSetInView } from '#disruption/release.ts';
import type { Reservation } from '#disruption/reservation.ts';
import type { Standing } from '#disruption/standing.ts';

/** How long a span is remembered whose permissions came to nothing. */
const strikeLife = minutes(60);

/** A pod with a reservation, as it was seen. */
interface GivenPod {
  readonly reservation: Reservation;
  readonly spans: readonly EvictionSpan[];
  /** Whether it was seen in its slot since. */
  readonly wasSeen: boolean;
  readonly isGone: boolean;
}

/**
 * Whose evictions were allowed for long, and came to nothing, as this process has seen: then others have their turn. The
 * clock is that of the span that is kept from others, and not of a pod, as an evictor may name another pod each time. It
 * stops for a pod that goes, and for others that had a whole turn; a reservation that lapses stops no clock.
 */
export class EvictionTurns {
  #given: ReadonlyMap<string, GivenPod> = new Map();
  readonly #turns = new Map<string, EvictionTurn>();
  /** When the last turn of a span ended without a pod of it having gone, by the key of the span. */
  readonly #strikes = new Map<string, Monotonic>();

  /** Takes what is reserved now, and how the pods stand. */
  look(reservations: readonly Reservation[], standing: Standing, now: Monotonic): void {
    if (reservations.length + this.#given.size + this.#turns.size + this.#strikes.size === 0)
      return;
    // Where something could not be read, no pod is known to have gone.
    if (standing.sets === undefined || standing.unreadable.length > 0) return;
    for (const given of this.#given.values()) {
      if (!given.isGone && hasGone(given, standing)) this.#clear(given);
    }
    const next = reservations.map((each) => [each.uid, this.#seen(each, standing)] as const);
    this.#given = new Map(next);
    this.#end(now);
    this.#begin(standing, now);
  }

  /** Returns the turns by the keys of their spans, as a ledger is decided on. */
  turns(): ReadonlyMap<string, EvictionTurn> {
    return this.#turns;
  }

  #seen(reservation: Reservation, standing: Standing): GivenPod {
    const known = this.#given.get(reservation.uid);
    const wasSeen = known?.wasSeen === true || isThere(reservation, standing);
    const isGone = known !== undefined && (known.isGone || hasGone(known, standing));
    return { reservation, spans: spansOf(reservation.slot, standing), wasSeen, isGone };
  }

  #clear({ spans }: GivenPod): void {
    for (const { key } of spans) {
      this.#turns.delete(key);
      this.#strikes.delete(key);
    }
  }

  /** Ends the turns of spans that were free for long enough for others to have theirs. */
  #end(now: Monotonic): void {
    for (const [key, { freeSince }] of this.#turns) {
      if (freeSince === undefined || now - freeSince < othersTurn) continue;
      this.#turns.delete(key);
      this.#strikes.set(key, freeSince);
    }
    for (const [key, at] of this.#strikes) if (now - at >= strikeLife) this.#strikes.delete(key);
  }

  #begin(standing: Standing, now: Monotonic): void {
    const held = this.#heldSpans(standing);
    for (const [key, turn] of this.#turns) {
      const freeSince = held.has(key) ? undefined : (turn.freeSince ?? now);
      this.#turns.set(key, { ...turn, freeSince });
    }
    for (const [key, { longest, afterStrike }] of held) {
      if (this.#turns.has(key)) continue;
      const allowed = this.#strikes.has(key) ? afterStrike : longest;
      this.#turns.set(key, { since: now, allowed, freeSince: undefined });
    }
  }

  /** Returns the spans of pods that are given to an eviction, and stay. */
  #heldSpans(standing: Standing): ReadonlyMap<string, EvictionSpan> {
    const held = new Map<string, EvictionSpan>();
    for (const { reservation, spans } of this.#given.values()) {
      const isEvicted = reservation.claims.some(({ by }) => by === 'eviction');
      if (!isEvicted || !isThere(reservation, standing)) continue;
      for (const span of spans) held.set(span.key, span);
    }
    return held;
  }
}

/** Reports whether the pod of `reservation` is in its slot, and stays. */
function isThere({ uid, slot }: Reservation, { places }: Standing): boolean {
  const place = places.get(slot.pod);
  return place?.pod?.uid === uid && !place.isLeaving;
}

/** Reports whether a pod that was seen in its slot is not there any more; one whose set is out of view may be. */
function hasGone({ reservation, wasSeen }: GivenPod, standing: Standing): boolean {
  return wasSeen && isSetInView(reservation, standing) && !isThere(reservation, standing);
}
