import { after, type Instant, type Millis, type Monotonic, millis, seconds } from '#base/units.ts';
import type { BudgetRef } from '#disruption/budget.ts';
import type { KnownLedger } from '#disruption/decision/governance.ts';
import { isShownSince, type Sightings, seenSince, sight } from '#disruption/elapsed.ts';
import { parseLedger, type StoredLedger } from '#disruption/parse-ledger.ts';
import { evictionLife } from '#disruption/release.ts';
import type { Reservation } from '#disruption/reservation.ts';
import type { Standing } from '#disruption/standing.ts';
import { maxDecisionAge } from '../consistent-read/basis.ts';
import type { ClockReading, SwapSight } from './batched-swaps.ts';
import { EvictionTurns } from './eviction-turns.ts';
import { type Trust, trustOf } from './ledger-trust.ts';

/** How soon something that is no ledger is read again: the leader may just be making it. */
export const strangeFor: Millis = seconds(1);
/** Longest time between two looks that both saw no ledger in which none can have been there unseen. */
const longestGap: Millis = seconds(10);
/** Who decided on the budget from before may have done so on a view of 10 s ago. */
const reboundWait: Millis = millis(evictionLife + maxDecisionAge);

/** What a budget says that has a bearing on what is given away. */
export interface BudgetBearing {
  /** When it came to select what another one may have given away; undefined: it has not. */
  readonly tookOverAt: Monotonic | undefined;
  /** Which pods it binds, and whether; undefined where that is not reported. */
  readonly binding: string | undefined;
}

/** What one process has seen of a ledger: as it was last read or written, and since when each of its claims is known. */
export class SeenLedger {
  readonly #budget: BudgetRef;
  readonly #object: string;
  readonly #bearing: () => BudgetBearing;
  /** Undefined where there was no ConfigMap. */
  #stored: StoredLedger | undefined;
  /** When the request was sent that showed it; undefined: none has. */
  #storedAt: Monotonic | undefined;
  #sightings: Sightings | undefined;
  /** Pods with a reservation that were seen in their slots since. */
  readonly #inPlace = new Set<string>();
  /** When this process stored claims itself, by their names. */
  #ownClaims: ReadonlyMap<string, Monotonic> = new Map();
  readonly #turns = new EvictionTurns();
  /** The version that a write of ours named which got no answer, and the pods whose reservation it takes out. */
  #doubt: { readonly version: string | undefined; readonly uids: ReadonlySet<string> } | undefined;
  /** Whether a ledger was ever seen there. */
  #hasStood = false;
  /** Since when no ledger could be read, by looks that followed one another; undefined while one can. */
  #unreadableSince: Monotonic | undefined;
  #version: string | undefined;
  /** Since when the budget was seen to bind other pods than the ledger was written for. */
  #unboundSince: { readonly binding: string; readonly at: Monotonic } | undefined;

  /**
   * @param object names the ConfigMap for people, such as `ConfigMap ops/ledger-of-ingester`
   * @param bearing what the budget says now
   */
  constructor(budget: BudgetRef, object: string, bearing: () => BudgetBearing = () => noBearing) {
    this.#budget = budget;
    this.#object = object;
    this.#bearing = bearing;
  }

  /** Returns when the request was sent that showed it; undefined: none has. */
  get provenAt(): Monotonic | undefined {
    return this.#storedAt;
  }

  /** Reports whether what is there is a ledger of this very budget. */
  get isLedger(): boolean {
    return this.#stored?.kind === 'ledger';
  }

  /** Reports whether it is also one for what the budget binds now, so that nothing about it is to be written. */
  get isCurrent(): boolean {
    return this.isLedger && this.#newBinding() === undefined;
  }

  /** Returns what is given away, as far as anything can be read. */
  reservations(): readonly Reservation[] {
    const stored = this.#stored;
    return stored !== undefined && 'ledger' in stored
      ? [...stored.ledger.reservations.values()]
      : [];
  }

  /** Takes what was read or written. */
  saw({ shared: { texts, configMap }, provenAt, by }: SwapSight, now: Monotonic): void {
    const data = Object.fromEntries(texts);
    const lastLook = this.#storedAt;
    this.#stored = configMap && parseLedger(data, this.#budget, this.#object);
    this.#storedAt = provenAt;
    this.#version = configMap?.metadata.resourceVersion;
    // A write that is on its way names the version of before, and fails.
    if (this.#doubt !== undefined && this.#doubt.version !== this.#version) this.#doubt = undefined;
    if (this.isLedger) {
      this.#unreadableSince = undefined;
      this.#hasStood = true;
    } else if (lastLook === undefined || provenAt - lastLook > longestGap) {
      // One may have been there in between, and been taken away with all that it held.
      this.#unreadableSince = now;
    } else this.#unreadableSince ??= now;
    this.#see(by, now);
  }

  #see(by: SwapSight['by'], now: Monotonic): void {
    const reservations = this.reservations();
    const before = this.#sightings;
    this.#sightings = sight(reservations, now, before);
    const uids = new Set(reservations.map(({ uid }) => uid));
    for (const uid of this.#inPlace) if (!uids.has(uid)) this.#inPlace.delete(uid);
    const own = new Map<string, Monotonic>();
    for (const key of this.#sightings.since.keys()) {
      const known = this.#ownClaims.get(key);
      const isNew = by === 'write' && before?.since.has(key) !== true;
      if (known !== undefined || isNew) own.set(key, known ?? now);
    }
    this.#ownClaims = own;
  }

  /** Notes that a write leaves that takes the reservations of the pods `uids` out, among others. */
  writes(uids: ReadonlySet<string>): void {
    const version = this.#version;
    const doubted = this.#doubt?.version === version ? (this.#doubt?.uids ?? none) : none;
    const all = new Set([...doubted, ...uids]);
    this.#doubt = all.size === 0 ? undefined : { version, uids: all };
  }

  /** Returns pods whose reservation a write may still take out that was sent, and got no answer. */
  get doubtful(): ReadonlySet<string> {
    return this.#doubt?.uids ?? none;
  }

  /** Returns the time from which a view must be proven for all that is there to be held against it; undefined: it is already. */
  unshownSince(viewProvenAt: Monotonic | undefined): Monotonic | undefined {
    const sightings = this.#sightings && { ...this.#sightings, inPlace: this.#inPlace };
    if (sightings === undefined) return undefined;
    let latest: Monotonic | undefined;
    for (const reservation of this.reservations()) {
      if (isShownSince(reservation, { sightings, viewProvenAt })) continue;
      const since = seenSince(reservation, sightings);
      if (since !== undefined && (latest === undefined || since > latest)) latest = since;
    }
    return latest;
  }

  /** Remembers which pods with a reservation stand in their slots, and which have gone: a pod that is there later came after them. */
  look(standing: Standing, now: Monotonic): void {
    const reservations = this.reservations();
    for (const { uid, slot } of reservations) {
      if (standing.places.get(slot.pod)?.pod?.uid === uid) this.#inPlace.add(uid);
    }
    this.#turns.look(reservations, standing, now);
  }

  /** Returns what this process has seen of the claims, whatever the clocks of others say. */
  sightings(now: Monotonic): Sightings | undefined {
    const own = {
      inPlace: this.#inPlace,
      stored: this.#ownClaims,
      turns: this.#turns.turns(),
    };
    return this.#sightings && { ...this.#sightings, ...own, now };
  }

  /** Reports whether what is there can be trusted. @param sawCreation see `LedgerSight` */
  trust(at: ClockReading, sawCreation: () => boolean): Trust {
    const { now, monotonic } = at;
    const trust = trustOf({
      budget: this.#budget,
      object: this.#object,
      stored: this.#stored,
      // A ledger that was there and is gone was taken away with all that it held.
      sawCreation: !this.#hasStood && sawCreation(),
      unreadableFor: millis(monotonic - (this.#unreadableSince ?? monotonic)),
      horizon: evictionLife,
      now,
    });
    return trust.kind === 'trusted' ? (this.#takenOver(at) ?? this.#rebound(at) ?? trust) : trust;
  }

  /** Returns the trust while what another budget gave away is waited for: it is in no ledger that is asked now. */
  #takenOver({ now, monotonic }: ClockReading): Trust | undefined {
    const at = this.#bearing().tookOverAt;
    const left = at === undefined ? 0 : at + evictionLife - monotonic;
    if (left <= 0) return undefined;
    const why = `the selector of ${this.#budget.kind} ${this.#budget.name} was changed to pods that another one may have given away`;
    return { kind: 'waiting', until: after(now, millis(left)), why };
  }

  /** Returns what the budget binds now, where that is something else than the ledger was written for. */
  #newBinding(): string | undefined {
    const { binding } = this.#bearing();
    if (binding === undefined || this.#stored?.kind !== 'ledger') return undefined;
    const { binding: written } = this.#stored;
    return written === undefined || written === binding ? undefined : binding;
  }

  /** Returns the trust while what went unbound by the budget is waited for: it is in no ledger. */
  #rebound({ now, monotonic }: ClockReading): Trust | undefined {
    const binding = this.#newBinding();
    if (binding === undefined) {
      this.#unboundSince = undefined;
      return undefined;
    }
    if (this.#unboundSince?.binding !== binding) this.#unboundSince = { binding, at: monotonic };
    const left = this.#unboundSince.at + reboundWait - monotonic;
    if (left <= 0) return undefined;
    const why = `${this.#budget.kind} ${this.#budget.name} was changed to bind what it did not bind before, some of which may be on its way`;
    return { kind: 'waiting', until: after(now, millis(left)), why };
  }

  /** Returns what is known at `at`. */
  known(at: ClockReading, sawCreation: () => boolean): KnownLedger {
    if (this.#storedAt === undefined) return { kind: 'unread' };
    const trust = this.trust(at, sawCreation);
    if (trust.kind === 'trusted') return { kind: 'known', ledger: trust.ledger };
    if (at.monotonic - this.#storedAt > strangeFor) return { kind: 'unread' };
    return { kind: 'unclear', why: trust.why, until: endOf(trust) };
  }
}

const none: ReadonlySet<string> = new Set();
/** The bearing of a budget that has no such thing to say. */
export const noBearing: BudgetBearing = { tookOverAt: undefined, binding: undefined };

/** Returns until when it is unknown what is given away; undefined: until it is corrected. */
export function endOf(trust: Exclude<Trust, { kind: 'trusted' }>): Instant | undefined {
  return trust.kind === 'waiting' ? trust.until : undefined;
}
