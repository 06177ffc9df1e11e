/** Who may disturb what: one round of requests against the ledger, and what is to be stored for it. */
import { after, type Instant, instant, type Millis, millis } from '#base/units.ts';
import { passedAt, type Sightings, storedFor } from '../elapsed.ts';
import { type EvictionTurn, othersTurn, spansOf } from '../eviction-span.ts';
import { bytesOf, mostBytes } from '../format-ledger.ts';
import type { Ledger } from '../ledger.ts';
import { evictionLife, type ReleaseMoment, remainderOf } from '../release.ts';
import { type Asking, type Claim, type Reservation, withClaim } from '../reservation.ts';
import { type Standing, slotIn } from '../standing.ts';
import type { Denial } from './denial.ts';
import { type Candidate, denialOf } from './judge.ts';
import { Tally } from './tally.ts';

/** A request to disturb a pod. */
export interface DisruptionRequest {
  readonly pod: Candidate;
  readonly asking: Asking;
  /** Used where the limit is 0. @default none */
  readonly override?: number;
  /** Answers, and changes nothing. @default false */
  readonly isDryRun?: boolean;
  /** Goes whatever the budget says, and is written down as all that goes: by then it may serve. @default false */
  readonly isExempt?: boolean;
}

/** What to answer once the ledger that belongs to it is stored. */
export type BudgetAnswer =
  | {
      readonly kind: 'allowed';
      /** Whether the pod was given away before, so that nothing was counted again (BUDG-5). */
      readonly isRepeated: boolean;
    }
  | { readonly kind: 'denied'; readonly denial: Denial };

/** A disruption of our own that is under way: a user allowed it, or no permission was needed when it was sent. */
export interface Begun extends Pick<DisruptionRequest, 'asking'> {
  readonly pod: Pick<Candidate, 'name' | 'uid'>;
}

/** All that is decided at one instant, and stored in one write. */
export interface Round extends ReleaseMoment {
  /** Listed in the order in which they are answered. */
  readonly requests: readonly DisruptionRequest[];
  /**
   * What may happen although no reservation says so, as where a budget was made while a deletion was under way: it is
   * written down before anything is answered. @default none
   */
  readonly begun?: readonly Begun[];
  /**
   * uids of pods whose reservation a write of ours may still take out that got no answer: what is written again makes that
   * write fail, as it names an older version. @default none
   */
  readonly doubtful?: ReadonlySet<string>;
}

/** How a round ended. */
export interface DecidedRound {
  /** The next ledger; the very same one where nothing changed. */
  readonly ledger: Ledger;
  /** Listed in the order of the requests. */
  readonly answers: readonly BudgetAnswer[];
  /**
   * `permissions`: the ledger must be stored before an answer leaves (BUDG-1), all other ones are decided again if it
   * cannot be. `releases`: it only holds less, and may be stored with the next write. `none`: nothing is to be stored.
   */
  readonly change: 'none' | 'releases' | 'permissions';
}

/** A repeated request makes a claim of this age a new one, so that what was allowed twice is remembered long enough. */
const renewedAfter: Millis = millis(evictionLife / 4);

/**
 * Answers the requests of `round` one after the other, and says what is to be stored for it: each sees what was granted to
 * those before it. What has ended by evidence is released first.
 */
export function decide(ledger: Ledger, round: Round, standing: Standing): DecidedRound {
  const pages = new Pages(ledger, standing, round);
  const answers = round.requests.map((request) => pages.answer(request));
  return { answers, ...pages.close() };
}

/** Returns the reservations of `ledger` that have not ended at `moment`. */
export function heldIn(
  ledger: Ledger,
  standing: Standing,
  moment: ReleaseMoment,
): readonly Reservation[] {
  return [...ledger.reservations.values()].flatMap(
    (stored) => remainderOf(stored, standing, moment) ?? [],
  );
}

/** The next ledger while it is being written. */
class Pages {
  readonly #before: Ledger;
  readonly #round: Round;
  readonly #tally: Tally;
  readonly #reservations: Map<string, Reservation>;
  readonly #hasReleased: boolean;
  /** The ledger records times in whole milliseconds. */
  readonly #at: Instant;
  #hasPermitted = false;
  #bytes: number | undefined;

  constructor(ledger: Ledger, standing: Standing, round: Round) {
    const held = heldIn(ledger, standing, round);
    this.#before = ledger;
    this.#round = round;
    this.#at = instant(Math.floor(round.now));
    this.#reservations = new Map(held.map((reservation) => [reservation.uid, reservation]));
    this.#tally = new Tally(standing, held, round);
    this.#hasReleased =
      held.length < ledger.reservations.size ||
      held.some((reservation) => ledger.reservations.get(reservation.uid) !== reservation);
    for (const begun of round.begun ?? []) this.#note(begun);
  }

  /** What was given away before is judged like all else: its own slot never counts against it. */
  answer(request: DisruptionRequest): BudgetAnswer {
    const { pod, asking, override, isDryRun = false } = request;
    const held = this.#reservations.get(pod.uid);
    if (request.isExempt === true) {
      return held === undefined ? this.#grant(request) : this.#repeat(held, request);
    }
    const denial = denialOf({ pod, by: asking.by, override }, this.#tally);
    if (denial !== undefined) return { kind: 'denied', denial };
    const rest = asking.by === 'eviction' ? this.#restOf(pod) : undefined;
    if (rest !== undefined) return { kind: 'denied', denial: rest };
    if (held !== undefined) return this.#repeat(held, request);
    return isDryRun ? { kind: 'allowed', isRepeated: false } : this.#grant(request);
  }

  close(): Pick<DecidedRound, 'ledger' | 'change'> {
    if (!this.#hasReleased && !this.#hasPermitted) return { ledger: this.#before, change: 'none' };
    const { budget } = this.#before;
    const change = this.#hasPermitted ? 'permissions' : 'releases';
    return { ledger: { budget, reservations: this.#reservations }, change };
  }

  /**
   * Returns why evictions of the span of `pod` rest: those that are allowed again and again, and never happen, would keep all
   * others back for ever.
   */
  #restOf({ name }: DisruptionRequest['pod']): Denial | undefined {
    const { sightings } = this.#round;
    if (sightings?.turns === undefined) return undefined;
    for (const { key, slots } of spansOf(
      slotIn(this.#tally.standing, name),
      this.#tally.standing,
    )) {
      const turn = sightings.turns.get(key);
      if (turn === undefined || sightings.now - turn.since < turn.allowed) continue;
      const until = this.#endOfRest(key, turn, sightings);
      if (until > this.#round.now) return { kind: 'unused', slots, allowed: turn.allowed, until };
    }
    return undefined;
  }

  /** Returns when others have had their turn, which begins once none of its pods is given to an eviction. */
  #endOfRest(key: string, { freeSince }: EvictionTurn, sightings: Sightings): Instant {
    const { now } = this.#round;
    if (freeSince !== undefined) {
      return after(now, millis(othersTurn - (sightings.now - freeSince)));
    }
    let last = now;
    for (const reservation of this.#reservations.values()) {
      if (!spansOf(reservation.slot, this.#tally.standing).some((span) => span.key === key))
        continue;
      for (const claim of reservation.claims.filter(({ by }) => by === 'eviction')) {
        const end = passedAt({ reservation, claim }, evictionLife, { now, sightings });
        if (end > last) last = end;
      }
    }
    return after(last, othersTurn);
  }

  /**
   * Repeats what was answered: the pod is given away, and nothing is counted again (BUDG-5). A further asker's permission
   * has its own end.
   */
  #repeat(held: Reservation, { asking, isDryRun = false }: DisruptionRequest): BudgetAnswer {
    const old = held.claims.find(({ by }) => by === asking.by);
    const isNew = old === undefined || this.#isToBeRenewed(held, old, asking);
    if (isNew && !isDryRun) this.#write(withClaim(held, { ...asking, at: this.#at }));
    return { kind: 'allowed', isRepeated: true };
  }

  #isToBeRenewed(reservation: Reservation, claim: Claim, asking: Asking): boolean {
    // An intent of an earlier term becomes ours, which is to finish it (WRIT-2).
    if (asking.by !== 'eviction' && (claim.by === 'eviction' || claim.term !== asking.term)) {
      return true;
    }
    if (this.#round.doubtful?.has(reservation.uid) === true) return claim.at !== this.#at;
    if (asking.by !== 'eviction') return false;
    // What another process stored may have been ended by another since it was read: only a write shows that.
    const age = storedFor({ reservation, claim }, this.#round);
    return age === undefined || age >= renewedAfter;
  }

  /** Notes it without asking whether it may be: it may happen already, however full the ledger is. */
  #note({ pod, asking }: Begun): void {
    const place = this.#tally.standing.places.get(pod.name);
    if (place?.pod?.uid !== pod.uid) return;
    const held = this.#reservations.get(pod.uid);
    if (held === undefined) this.#write(this.#reservation({ pod, asking }));
    else if (!held.claims.some(({ by }) => by === asking.by)) {
      this.#write(withClaim(held, { ...asking, at: this.#at }));
    }
  }

  #reservation({ pod, asking }: Begun): Reservation {
    const slot = slotIn(this.#tally.standing, pod.name);
    return { uid: pod.uid, slot, claims: [{ ...asking, at: this.#at }] };
  }

  #grant({ pod, asking }: DisruptionRequest): BudgetAnswer {
    const reservation = this.#reservation({ pod, asking });
    this.#bytes ??= [...this.#reservations.values()].reduce((sum, one) => sum + bytesOf(one), 0);
    const bytes = this.#bytes + bytesOf(reservation);
    if (bytes > mostBytes) {
      const denial = {
        kind: 'ledger-full',
        reservations: this.#reservations.size,
        mostBytes,
      } as const;
      return { kind: 'denied', denial };
    }
    this.#bytes = bytes;
    this.#write(reservation);
    return { kind: 'allowed', isRepeated: false };
  }

  #write(reservation: Reservation): void {
    this.#reservations.set(reservation.uid, reservation);
    this.#tally.add(reservation);
    this.#hasPermitted = true;
  }
}
