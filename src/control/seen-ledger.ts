import { type Instant, type Millis, type Monotonic, millis, seconds } from '#base/units.ts';
import type { BudgetRef } from '#disruption/budget.ts';
import { type Sightings, sight } from '#disruption/elapsed.ts';
import type { KnownLedger } from '#disruption/governance.ts';
import { parseLedger, type StoredLedger } from '#disruption/parse-ledger.ts';
import { evictionLife } from '#disruption/release.ts';
import type { Reservation } from '#disruption/reservation.ts';
import type { Standing } from '#disruption/standing.ts';
import type { SharedTexts } from '#kubernetes/shared-config-map.ts';
import type { Reading } from './batched-swaps.ts';
import { type Trust, trustOf } from './ledger-trust.ts';

/** How soon something that is no ledger is read again: whoever leads may just be making it. */
export const strangeFor: Millis = seconds(1);

/** What one process has seen of a ledger: as it was last read or written, and since when each of its claims is known. */
export class SeenLedger {
  readonly #budget: BudgetRef;
  readonly #object: string;
  /** Undefined where there was no ConfigMap. */
  #stored: StoredLedger | undefined;
  /** When the request was sent that showed it; undefined: none has. */
  #storedAt: Monotonic | undefined;
  #sightings: Sightings | undefined;
  /** Pods with a reservation that were seen in their slots since. */
  readonly #inPlace = new Set<string>();
  /** Whether a ledger was ever seen there. */
  #hasStood = false;
  /** Since when no ledger could be read; undefined while one can. */
  #unreadableSince: Monotonic | undefined;

  /** @param object names the ConfigMap for people, such as `ConfigMap ops/ledger-of-ingester` */
  constructor(budget: BudgetRef, object: string) {
    this.#budget = budget;
    this.#object = object;
  }

  /** When the request was sent that showed it; undefined: none has. */
  get provenAt(): Monotonic | undefined {
    return this.#storedAt;
  }

  /** Whether what stands there is a ledger of this very budget. */
  get isLedger(): boolean {
    return this.#stored?.kind === 'ledger';
  }

  /** What is given away, as far as anything can be read. */
  reservations(): readonly Reservation[] {
    const stored = this.#stored;
    return stored !== undefined && 'ledger' in stored
      ? [...stored.ledger.reservations.values()]
      : [];
  }

  /** Takes what was read or written by a request that was sent at `provenAt`. */
  saw({ texts, configMap }: SharedTexts, provenAt: Monotonic, now: Monotonic): void {
    const data = Object.fromEntries(texts);
    this.#stored = configMap && parseLedger(data, this.#budget, this.#object);
    this.#storedAt = provenAt;
    if (this.isLedger) {
      this.#unreadableSince = undefined;
      this.#hasStood = true;
    } else this.#unreadableSince ??= now;
    const reservations = this.reservations();
    this.#sightings = sight(reservations, now, this.#sightings);
    const uids = new Set(reservations.map(({ uid }) => uid));
    for (const uid of this.#inPlace) if (!uids.has(uid)) this.#inPlace.delete(uid);
  }

  /** Remembers which pods with a reservation stand in their slots: what stands there later came after them. */
  look(standing: Standing): void {
    for (const { uid, slot } of this.reservations()) {
      if (standing.places.get(slot.pod)?.pod?.uid === uid) this.#inPlace.add(uid);
    }
  }

  /** What this process has seen of the claims, whatever the clocks of others say. */
  sightings(now: Monotonic): Sightings | undefined {
    return this.#sightings && { ...this.#sightings, now, inPlace: this.#inPlace };
  }

  /** Whether what stands there can be trusted. @param sawCreation see `LedgerSight` */
  trust({ now, monotonic }: Reading, sawCreation: () => boolean): Trust {
    return trustOf({
      budget: this.#budget,
      object: this.#object,
      stored: this.#stored,
      // A ledger that stood there and is gone was taken away with all that it held.
      sawCreation: !this.#hasStood && sawCreation(),
      unreadableFor: millis(monotonic - (this.#unreadableSince ?? monotonic)),
      horizon: evictionLife,
      now,
    });
  }

  /** What is known at `at`. */
  known(at: Reading, sawCreation: () => boolean): KnownLedger {
    if (this.#storedAt === undefined) return { kind: 'unread' };
    const trust = this.trust(at, sawCreation);
    if (trust.kind === 'trusted') return { kind: 'known', ledger: trust.ledger };
    if (at.monotonic - this.#storedAt > strangeFor) return { kind: 'unread' };
    return { kind: 'unclear', why: trust.why, until: endOf(trust) };
  }
}

/** Until when nobody knows what is given away; undefined: until somebody mends it. */
export function endOf(trust: Exclude<Trust, { kind: 'trusted' }>): Instant | undefined {
  return trust.kind === 'waiting' ? trust.until : undefined;
}
