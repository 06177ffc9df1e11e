import type { Clock } from '#base/clock.ts';
import { type Instant, type Millis, type Monotonic, millis, seconds } from '#base/units.ts';
import type { BudgetRef } from '#disruption/budget.ts';
import {
  type Begun,
  type Decided,
  type Answer as Decision,
  type DisruptionRequest,
  decide,
  type Round,
} from '#disruption/decide.ts';
import { formatLedger } from '#disruption/format-ledger.ts';
import type { BudgetMoment } from '#disruption/governance.ts';
import type { Ledger } from '#disruption/ledger.ts';
import type { Leader } from '#disruption/release.ts';
import type { Standing } from '#disruption/standing.ts';
import type { SharedTexts } from '#kubernetes/shared-config-map.ts';
import { maxDecisionAge } from './basis.ts';
import { type BatchedSwapOptions, BatchedSwaps, type Reading, type Swap } from './batched-swaps.ts';
import { LedgerTidy } from './ledger-tidy.ts';
import type { Trust } from './ledger-trust.ts';
import { endOf, SeenLedger, strangeFor } from './seen-ledger.ts';

/** What the ledger of a budget says to a request. */
export type LedgerAnswer =
  | Decision
  /** Nothing stands against it as far as is seen, and the view is not proven to be fresh: prove it, and ask again. */
  | { readonly kind: 'unproven' }
  /** Nobody knows what is given away: `until` then, or until somebody mends it. */
  | { readonly kind: 'unclear'; readonly why: string; readonly until: Instant | undefined };

/** How all pods under a budget stand, and since when that is proven. */
export interface ProvenStanding {
  readonly standing: Standing;
  /** When the request was sent that proves it; undefined while nothing does. */
  readonly provenAt: Monotonic | undefined;
}

/** What {@link DisruptionLedger} works with. */
export interface DisruptionLedgerOptions {
  readonly clock: Clock;
  /** The ConfigMap of the ledger. */
  readonly map: BatchedSwapOptions<unknown, unknown>['map'];
  /** Names the ConfigMap for people, such as `ConfigMap ops/ledger-of-ingester`. */
  readonly object: string;
  readonly budget: BudgetRef;
  /** Whether this process saw the budget being made a moment ago, and not only that it was there. */
  sawCreation(): boolean;
  /** How all pods under the budget stand, as the caches show them right now. */
  view(now: Instant): ProvenStanding;
  /**
   * The term in which this process leads; undefined while it does not.
   *
   * @param viewProvenAt of the view of this moment
   */
  leader(viewProvenAt: Monotonic | undefined): Leader | undefined;
  /** Has the view proven anew, for a write that nobody waits for. @throws what a read fails with */
  prove(signal: AbortSignal): Promise<void>;
  /** Disruptions of this process under way. @default none */
  begun?(): readonly Begun[];
  /** Told how a write ended that nobody waited for: with what it failed, or undefined. */
  onTidied?(failure: unknown): void;
}

/** What is asked of the one order in which a ledger is written. */
type Asked =
  | { readonly kind: 'disruption'; readonly request: DisruptionRequest }
  /** Stores what has ended since. */
  | { readonly kind: 'store' }
  /** Finds out what stands there; makes the ledger of a budget that was made a moment ago. */
  | { readonly kind: 'look' };

/** How long one call of the API server may take: those who evict wait for it. */
const patience: Millis = seconds(5);
/** How old a view may be that something is given away on: by the time that its write was answered it is no older than 10 s. */
const grantingAge: Millis = millis(maxDecisionAge - patience);

/**
 * The ledger of one budget (D-33): the one authority that rollouts, evictions and scale-downs ask. A permission is given
 * once its reservation is stored; all that ask at one instant share one write, and a denial costs none. What has ended is
 * taken out in the next write, or in one of its own a moment later.
 */
export class DisruptionLedger {
  readonly #options: DisruptionLedgerOptions;
  readonly #swaps: BatchedSwaps<Asked, LedgerAnswer>;
  readonly #tidy: LedgerTidy;
  readonly #seen: SeenLedger;
  /** Pods whose reservation the last write that was tried takes out; until its outcome is known. */
  #dropping: ReadonlySet<string> = new Set();
  constructor(options: DisruptionLedgerOptions) {
    this.#options = options;
    const { clock, map, budget, object } = options;
    this.#seen = new SeenLedger(budget, object);
    this.#swaps = new BatchedSwaps({
      clock,
      map,
      patience,
      freshFor: () => (this.#seen.isLedger ? maxDecisionAge : strangeFor),
      decide: (asked, _, at) => this.#decide(asked, at),
      onSeen: (shared, provenAt) => this.#saw(shared, provenAt),
    });
    this.#tidy = new LedgerTidy({
      clock,
      isNeeded: () => this.#seen.reservations().length > 0,
      isWanted: () => this.#isToBeTidied(),
      store: async (signal) => {
        await options.prove(signal);
        await this.#swaps.ask({ kind: 'store' }, signal);
      },
      ended: (failure) => options.onTidied?.(failure),
    });
  }

  /**
   * Answers `request`; a permission is stored by then.
   *
   * @throws the reason of `signal` when that aborts first; what the client throws
   */
  ask(request: DisruptionRequest, signal: AbortSignal): Promise<LedgerAnswer> {
    return this.#swaps.ask({ kind: 'disruption', request }, signal);
  }

  /**
   * Finds out what stands there, so that a wait for what nobody knows begins now (D-34); and makes the ledger of a budget
   * that this process saw being made. @throws as {@link ask}
   */
  async look(signal: AbortSignal): Promise<void> {
    await this.#swaps.ask({ kind: 'look' }, signal);
  }

  /** What is known of the budget right now, without a call. */
  moment(now: Instant): BudgetMoment {
    const at = { now, monotonic: this.#options.clock.monotonic() };
    const view = this.#view(at);
    const isYoung = (time: Monotonic | undefined): boolean =>
      time !== undefined && at.monotonic - time <= maxDecisionAge;
    return {
      standing: view.standing,
      ledger: this.#seen.known(at, this.#sawCreation),
      isFresh: isYoung(this.#seen.provenAt) && isYoung(view.provenAt),
      isLedgerFresh: isYoung(this.#seen.provenAt),
      release: this.#releaseMoment(at, view.provenAt),
      dropping: this.#dropping,
    };
  }

  /** Why nobody knows what is given away; undefined while that is known, or was not asked yet. */
  trouble(): string | undefined {
    if (this.#seen.provenAt === undefined) return undefined;
    const trust = this.#trust(this.#reading());
    return trust.kind === 'trusted' ? undefined : trust.why;
  }

  /** Nothing more is written that nobody asks for. */
  close(): void {
    this.#tidy.close();
  }

  #reading(): Reading {
    const { clock } = this.#options;
    return { now: clock.now(), monotonic: clock.monotonic() };
  }

  #decide(asked: readonly Asked[], at: Reading): Swap<LedgerAnswer> {
    const trust = this.#trust(at);
    if (trust.kind !== 'trusted') {
      const unclear = { kind: 'unclear', why: trust.why, until: endOf(trust) } as const;
      return { changes: new Map(), answers: asked.map(() => unclear) };
    }
    const view = this.#view(at);
    const { provenAt } = view;
    const isProven = provenAt !== undefined && at.monotonic - provenAt <= grantingAge;
    return isProven
      ? this.#round(asked, { ledger: trust.ledger, at, view })
      : this.#unproven(asked, { ledger: trust.ledger, at, view });
  }

  #round(asked: readonly Asked[], moment: LedgerMoment): Swap<LedgerAnswer> {
    const requests = asked.flatMap((each) => (each.kind === 'disruption' ? each.request : []));
    const decided = this.#decided(requests, moment);
    const isToBeStored = this.#isToBeStored(asked, decided);
    this.#dropping = isToBeStored ? droppedBy(moment.ledger, decided.ledger) : new Set();
    const changes = isToBeStored ? Object.entries(formatLedger(decided.ledger)) : [];
    return { changes: new Map(changes), answers: inOrder(asked, decided.answers) };
  }

  /** A view that nothing proves is good enough to deny on, and gives nothing away. */
  #unproven(asked: readonly Asked[], moment: LedgerMoment): Swap<LedgerAnswer> {
    const requests = asked.flatMap((each) =>
      each.kind === 'disruption' ? { ...each.request, isDryRun: true } : [],
    );
    const { answers } = this.#decided(requests, moment);
    const denied = answers.map(
      (answer): LedgerAnswer => (answer.kind === 'denied' ? answer : { kind: 'unproven' }),
    );
    return { changes: new Map(), answers: inOrder(asked, denied) };
  }

  #decided(requests: readonly DisruptionRequest[], { ledger, at, view }: LedgerMoment): Decided {
    const round: Round = {
      ...this.#releaseMoment(at, view.provenAt),
      requests,
      begun: this.#options.begun?.() ?? [],
    };
    return decide(ledger, round, view.standing);
  }

  #isToBeStored(asked: readonly Asked[], { change }: Decided): boolean {
    if (change === 'permissions') return true;
    if (change === 'releases') return asked.some(({ kind }) => kind === 'store');
    return !this.#seen.isLedger && asked.some(({ kind }) => kind === 'look');
  }

  #releaseMoment(at: Reading, viewProvenAt: Monotonic | undefined): Omit<Round, 'requests'> {
    return {
      now: at.now,
      sightings: this.#seen.sightings(at.monotonic),
      leader: this.#options.leader(viewProvenAt),
      viewProvenAt,
    };
  }

  /** How the pods stand; whatever has a reservation, and is seen in its slot, is remembered. */
  #view({ now }: Reading): ProvenStanding {
    const view = this.#options.view(now);
    this.#seen.look(view.standing);
    return view;
  }

  #trust(at: Reading): Trust {
    return this.#seen.trust(at, this.#sawCreation);
  }

  /** Only one process may begin a ledger: another may have given something away that its own writes do not show. */
  readonly #sawCreation = (): boolean =>
    this.#options.leader(undefined) !== undefined && this.#options.sawCreation();

  #isToBeTidied(): boolean {
    const at = this.#reading();
    const trust = this.#trust(at);
    if (trust.kind !== 'trusted') return false;
    // As it would be proven by then: else nobody would prove it, as a denial takes no proof, and nothing would ever end.
    const view = { ...this.#view(at), provenAt: at.monotonic };
    return this.#decided([], { ledger: trust.ledger, at, view }).change !== 'none';
  }

  #saw(shared: SharedTexts, provenAt: Monotonic): void {
    this.#dropping = new Set();
    this.#seen.saw(shared, provenAt, this.#options.clock.monotonic());
    this.#tidy.arm();
  }
}

/** All that a round is decided on. */
interface LedgerMoment {
  readonly ledger: Ledger;
  readonly at: Reading;
  readonly view: ProvenStanding;
}

/** Pods of which `next` has fewer claims than `before`. */
function droppedBy(before: Ledger, next: Ledger): ReadonlySet<string> {
  const dropped = [...before.reservations.values()].filter(
    ({ uid, claims }) => (next.reservations.get(uid)?.claims.length ?? 0) < claims.length,
  );
  return new Set(dropped.map(({ uid }) => uid));
}

/** The answers to those of `asked` that ask for something; what asks for nothing gets none that says anything. */
function inOrder(
  asked: readonly Asked[],
  answers: readonly LedgerAnswer[],
): readonly LedgerAnswer[] {
  const next = answers.values();
  return asked.map((each) =>
    each.kind === 'disruption' ? (next.next().value ?? noAnswer) : noAnswer,
  );
}

/** Answers what asked for no permission. */
const noAnswer: LedgerAnswer = { kind: 'unclear', why: 'nothing was asked for', until: undefined };
