import type { Clock } from '#base/clock.ts';
import { type Instant, type Millis, type Monotonic, millis, seconds } from '#base/units.ts';
import type { BudgetRef } from '#disruption/budget.ts';
import {
  type Answer as Decision,
  type DisruptionRequest,
  decide,
  type Voided,
} from '#disruption/decide.ts';
import { type Sightings, sight } from '#disruption/elapsed.ts';
import { formatLedger } from '#disruption/format-ledger.ts';
import type { Ledger } from '#disruption/ledger.ts';
import { parseLedger, type StoredLedger } from '#disruption/parse-ledger.ts';
import { evictionLife, type Leader } from '#disruption/release.ts';
import type { Standing } from '#disruption/standing.ts';
import type { SharedTexts } from '#kubernetes/shared-config-map.ts';
import { maxDecisionAge } from './basis.ts';
import { type BatchedSwapOptions, BatchedSwaps, type Reading, type Swap } from './batched-swaps.ts';
import { type Trust, trustOf } from './ledger-trust.ts';

/** What the ledger of a budget says to a request. */
export type LedgerAnswer =
  | Decision
  /** Nobody knows what is given away: `until` then, or until somebody mends it. */
  | { readonly kind: 'unclear'; readonly why: string; readonly until: Instant | undefined };

/** What {@link DisruptionLedger} works with. */
export interface DisruptionLedgerOptions {
  readonly clock: Clock;
  /** The ConfigMap of the ledger. */
  readonly map: BatchedSwapOptions<unknown, unknown>['map'];
  /** Names the ConfigMap for people, such as `ConfigMap ops/ledger-of-ingester`. */
  readonly object: string;
  readonly budget: BudgetRef;
  /** Whether this process saw the budget being made, and not only that it was there. */
  readonly sawCreation: boolean;
  /** How all pods under the budget stand, as the caches show them right now. */
  standing(now: Instant): Standing;
  /** The term in which this process leads; undefined while it does not. */
  leader(): Leader | undefined;
}

/** What is asked of the one order in which a ledger is written. */
type Asked =
  | { readonly kind: 'disruption'; readonly request: DisruptionRequest }
  /** Stores what has been taken back since. */
  | { readonly kind: 'store' }
  /** Finds out what stands there. */
  | { readonly kind: 'look' };

/** How long one call of the API server may take: those who evict wait for it. */
const patience: Millis = seconds(5);

/**
 * The ledger of one budget (D-33): the one authority that rollouts, evictions and scale-downs ask. A permission is given
 * once its reservation is stored; all that ask at one instant share one write, and a denial costs none.
 */
export class DisruptionLedger {
  readonly #options: DisruptionLedgerOptions;
  readonly #swaps: BatchedSwaps<Asked, LedgerAnswer>;
  /** As it was last read or written; undefined where there was no ConfigMap. */
  #stored: StoredLedger | undefined;
  /** What this process has seen of the claims in it, whatever the clocks of others say. */
  #sightings: Sightings | undefined;
  /** Whether a ledger was ever seen there. */
  #hasStood = false;
  /** Since when no ledger could be read; undefined while one can. */
  #unreadableSince: Monotonic | undefined;
  /** Intents of our own that will not be sent, until the ledger does not have them any more; by uid and asker. */
  readonly #voided = new Map<string, Voided>();

  constructor(options: DisruptionLedgerOptions) {
    this.#options = options;
    const { clock, map } = options;
    this.#swaps = new BatchedSwaps({
      clock,
      map,
      patience,
      freshFor: maxDecisionAge,
      decide: (asked, _, at) => this.#decide(asked, at),
      onSeen: (shared) => this.#saw(shared),
    });
  }

  /**
   * Answers `request`; a permission is stored by then.
   *
   * @throws the reason of `signal` when that aborts first; what the client throws
   */
  ask(request: DisruptionRequest, signal: AbortSignal): Promise<LedgerAnswer> {
    // Whoever asks anew wants it again.
    this.#voided.delete(voidKey(request.pod.uid, request.asking.by));
    return this.#swaps.ask({ kind: 'disruption', request }, signal);
  }

  /** Takes intents of our own back that were not sent, and never will be; stores that. @throws as {@link ask} */
  async takeBack(voided: readonly Voided[], signal: AbortSignal): Promise<void> {
    for (const each of voided) this.#voided.set(voidKey(each.uid, each.by), each);
    await this.#swaps.ask({ kind: 'store' }, signal);
  }

  /** Finds out what stands there, so that a wait for what nobody knows begins now (D-34). @throws as {@link ask} */
  async look(signal: AbortSignal): Promise<void> {
    await this.#swaps.ask({ kind: 'look' }, signal);
  }

  #decide(asked: readonly Asked[], at: Reading): Swap<LedgerAnswer> {
    const trust = this.#trust(at);
    if (trust.kind !== 'trusted') {
      const until = trust.kind === 'waiting' ? trust.until : undefined;
      const unclear = { kind: 'unclear', why: trust.why, until } as const;
      return { changes: new Map(), answers: asked.map(() => unclear) };
    }
    return this.#round(asked, trust.ledger, at);
  }

  #round(asked: readonly Asked[], ledger: Ledger, at: Reading): Swap<LedgerAnswer> {
    const requests = asked.flatMap((each) => (each.kind === 'disruption' ? each.request : []));
    this.#forgetTakenBack(ledger);
    const round = {
      requests,
      voided: [...this.#voided.values()],
      now: at.now,
      sightings: this.#sightings && { ...this.#sightings, now: at.monotonic },
      leader: this.#options.leader(),
    };
    const decided = decide(ledger, round, this.#options.standing(at.now));
    const isToBeStored =
      decided.change === 'permissions' ||
      (decided.change === 'releases' && asked.some(({ kind }) => kind === 'store'));
    const decisions = decided.answers.values();
    const answers = asked.map((each) =>
      each.kind === 'disruption' ? (decisions.next().value ?? noAnswer) : noAnswer,
    );
    const changes = isToBeStored ? Object.entries(formatLedger(decided.ledger)) : [];
    return { changes: new Map(changes), answers };
  }

  #trust({ now, monotonic }: Reading): Trust {
    const { budget, object } = this.#options;
    const unreadableFor = millis(monotonic - (this.#unreadableSince ?? monotonic));
    // A ledger that stood there and is gone was taken away with all that it held.
    const sawCreation = this.#options.sawCreation && !this.#hasStood;
    const stored = this.#stored;
    const horizon = evictionLife;
    return trustOf({ budget, object, stored, sawCreation, unreadableFor, horizon, now });
  }

  #saw({ texts, configMap }: SharedTexts): void {
    const { budget, object, clock } = this.#options;
    const stored = configMap && parseLedger(Object.fromEntries(texts), budget, object);
    this.#stored = stored;
    const now = clock.monotonic();
    if (stored?.kind === 'ledger') {
      this.#unreadableSince = undefined;
      this.#hasStood = true;
    } else this.#unreadableSince ??= now;
    const reservations = stored?.kind === 'ledger' ? [...stored.ledger.reservations.values()] : [];
    this.#sightings = sight(reservations, now, this.#sightings);
  }

  #forgetTakenBack(ledger: Ledger): void {
    for (const [key, { uid, by }] of this.#voided) {
      const claims = ledger.reservations.get(uid)?.claims ?? [];
      if (!claims.some((claim) => claim.by === by)) this.#voided.delete(key);
    }
  }
}

/** Answers what asked for no permission. */
const noAnswer: LedgerAnswer = { kind: 'unclear', why: 'nothing was asked for', until: undefined };

function voidKey(uid: string, by: string): string {
  return `${uid} ${by}`;
}
