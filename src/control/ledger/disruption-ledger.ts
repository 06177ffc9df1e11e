import type { Clock } from '#base/clock.ts';
import { type Instant, type Millis, type Monotonic, millis, seconds } from '#base/units.ts';
import type { BudgetRef } from '#disruption/budget.ts';
import {
  type Begun,
  type DecidedRound,
  type BudgetAnswer as Decision,
  type DisruptionRequest,
  decide,
  type Round,
} from '#disruption/decision/decide.ts';
import type { BudgetMoment } from '#disruption/decision/governance.ts';
import { formatLedger } from '#disruption/format-ledger.ts';
import type { Leader } from '#disruption/release.ts';
import { maxDecisionAge } from '../consistent-read/basis.ts';
import {
  type BatchedSwapOptions,
  BatchedSwaps,
  type ClockReading,
  type Swap,
  type SwapSight,
} from './batched-swaps.ts';
import { denialsIn, heldAnswers } from './held-answers.ts';
import {
  type Asked,
  droppedBy,
  inOrder,
  type LedgerAnswer,
  type ProvenStanding,
  questionsOf,
  type RoundMoment,
  requestsOf,
} from './ledger-questions.ts';
import { LedgerTidy } from './ledger-tidy.ts';
import type { Trust } from './ledger-trust.ts';
import { type BudgetBearing, endOf, noBearing, SeenLedger, strangeFor } from './seen-ledger.ts';

/** What {@link DisruptionLedger} works with. */
export interface DisruptionLedgerOptions {
  readonly clock: Clock;
  /** The ConfigMap of the ledger. */
  readonly map: BatchedSwapOptions<unknown, unknown>['map'];
  /** Names the ConfigMap for people, such as `ConfigMap ops/ledger-of-ingester`. */
  readonly object: string;
  readonly budget: BudgetRef;
  /** Reports whether this process saw the budget being made just now, and not only that it was there. */
  sawCreation(): boolean;
  /** What the budget says now that has a bearing on what is given away. @default nothing */
  bearing?(): BudgetBearing;
  /** Returns how all pods under the budget stand, as the caches show them right now. */
  view(now: Instant): ProvenStanding;
  /**
   * Returns the term in which this process leads; undefined while it does not.
   *
   * @param viewProvenAt of the view of this instant
   */
  leader(viewProvenAt: Monotonic | undefined): Leader | undefined;
  /**
   * Has the view proven again, for a write that nothing waits for.
   *
   * @param since the proof must be younger than this
   * @throws what a read fails with
   */
  prove(signal: AbortSignal, since: Monotonic | undefined): Promise<void>;
  /** Disruptions of this process under way. @default none */
  begun?(): readonly Begun[];
  /** Called with how a write ended that nothing waited for: with what it failed, or undefined. */
  onTidied?(failure: unknown): void;
}

/** How long one call of the API server may take: those who evict wait for it. */
const patience: Millis = seconds(5);
/** How old a view may be that something is given away on: by the time that its write was answered it is no older than 10 s. */
const grantingAge: Millis = millis(maxDecisionAge - patience);

/**
 * The ledger of one budget (D-33): the one authority that rollouts, evictions and scale-downs ask. A permission is given
 * once its reservation is stored; all that ask at one instant share one write, and a denial costs none. What has ended is
 * taken out in the next write, or in one of its own shortly afterwards.
 */
export class DisruptionLedger {
  readonly #options: DisruptionLedgerOptions;
  readonly #swaps: BatchedSwaps<Asked, LedgerAnswer>;
  readonly #tidy: LedgerTidy;
  readonly #seen: SeenLedger;
  /** Pods whose reservation the write that was decided on last takes out. */
  #dropping: ReadonlySet<string> = new Set();
  constructor(options: DisruptionLedgerOptions) {
    this.#options = options;
    const { clock, map, budget, object } = options;
    this.#seen = new SeenLedger(budget, object, () => this.#bearing());
    this.#swaps = new BatchedSwaps({
      clock,
      map,
      patience,
      freshFor: () => (this.#seen.isCurrent ? maxDecisionAge : strangeFor),
      decide: (asked, _, at) => this.#decide(asked, at),
      onSeen: (sight) => this.#saw(sight),
      onSent: () => this.#seen.writes(this.#dropping),
    });
    this.#tidy = new LedgerTidy({
      clock,
      isNeeded: () => this.#seen.reservations().length > 0 || this.#isAwaited(),
      isWanted: () => this.#isAwaited() || this.#isToBeTidied(),
      store: (signal) => this.#tidied(signal),
      ended: (failure) => options.onTidied?.(failure),
    });
  }

  /**
   * Answers `request`; a permission is stored by then.
   *
   * @param isAsked whether it is still this budget that has to be asked; looked at at the instant of the decision
   * @throws the reason of `signal` when that aborts first; what the client throws
   */
  ask(
    request: DisruptionRequest,
    signal: AbortSignal,
    isAsked: () => boolean = () => true,
  ): Promise<LedgerAnswer> {
    return this.#swaps.ask({ kind: 'disruption', request, isAsked }, signal);
  }

  /**
   * Finds out what is there, so that a wait for what is unknown begins now (D-34); and makes the ledger of a budget
   * that this process saw being made. @throws as {@link ask}
   */
  async look(signal: AbortSignal): Promise<void> {
    await this.#swaps.ask({ kind: 'look' }, signal);
  }

  /** Returns what is known of the budget right now, without a call. */
  moment(now: Instant): BudgetMoment {
    const at = { now, monotonic: this.#options.clock.monotonic() };
    const view = this.#view(at);
    const isYoung = (time: Monotonic | undefined): boolean =>
      time !== undefined && at.monotonic - time <= maxDecisionAge;
    return {
      standing: view.standing,
      ledger: this.#seen.known(at, this.#sawCreation),
      isLedgerFresh: isYoung(this.#seen.provenAt),
      isViewFresh: isYoung(view.provenAt),
      release: this.#releaseMoment(at, view.provenAt),
      dropping: new Set([...this.#dropping, ...this.#seen.doubtful]),
    };
  }

  /** Returns why it is unknown what is given away; undefined while that is known, or was not asked yet. */
  trouble(): string | undefined {
    if (this.#seen.provenAt === undefined) return undefined;
    const trust = this.#trust(this.#reading());
    return trust.kind === 'trusted' ? undefined : trust.why;
  }

  /** Ends the writes that nothing asks for. */
  close(): void {
    this.#tidy.close();
  }

  #bearing(): BudgetBearing {
    return this.#options.bearing?.() ?? noBearing;
  }

  #reading(): ClockReading {
    const { clock } = this.#options;
    return { now: clock.now(), monotonic: clock.monotonic() };
  }

  #decide(asked: readonly Asked[], at: ClockReading): Swap<LedgerAnswer> {
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

  #round(asked: readonly Asked[], moment: RoundMoment): Swap<LedgerAnswer> {
    const questions = questionsOf(asked);
    const requests = requestsOf(questions);
    const decided = this.#decided(requests, moment);
    const isToBeStored = this.#isToBeStored(asked, decided);
    this.#dropping = isToBeStored ? droppedBy(moment.ledger, decided.ledger) : new Set();
    const changes = isToBeStored
      ? Object.entries(formatLedger(decided.ledger, this.#bearing().binding))
      : [];
    const answers = this.#held(decided.answers, requests, moment);
    return { changes: new Map(changes), answers: inOrder(questions, answers) };
  }

  /** A view that nothing proves is good enough to deny on, and gives nothing away. */
  #unproven(asked: readonly Asked[], moment: RoundMoment): Swap<LedgerAnswer> {
    this.#dropping = new Set();
    const questions = questionsOf(asked);
    const requests = requestsOf(questions).map((request) => ({ ...request, isDryRun: true }));
    const { answers } = this.#decided(requests, moment);
    const denied = denialsIn(this.#held(answers, requests, moment));
    return { changes: new Map(), answers: inOrder(questions, denied) };
  }

  /** Returns `answers` as far as they hold on the view of `moment`. */
  #held(
    answers: readonly Decision[],
    requests: readonly DisruptionRequest[],
    moment: RoundMoment,
  ): readonly LedgerAnswer[] {
    const view = { ...moment.view, provenAt: moment.at.monotonic };
    return heldAnswers(answers, {
      unshownSince: () => this.#seen.unshownSince(moment.view.provenAt),
      asIfShown: () => this.#decided(requests, { ...moment, view }).answers,
    });
  }

  #decided(
    requests: readonly DisruptionRequest[],
    { ledger, at, view }: RoundMoment,
  ): DecidedRound {
    const round: Round = {
      ...this.#releaseMoment(at, view.provenAt),
      requests,
      begun: this.#options.begun?.() ?? [],
      doubtful: this.#seen.doubtful,
    };
    return decide(ledger, round, view.standing);
  }

  #isToBeStored(asked: readonly Asked[], { change }: DecidedRound): boolean {
    if (change === 'permissions') return true;
    if (change === 'releases') return asked.some(({ kind }) => kind === 'store');
    return !this.#seen.isCurrent && asked.some(({ kind }) => kind === 'look');
  }

  #releaseMoment(at: ClockReading, viewProvenAt: Monotonic | undefined): Omit<Round, 'requests'> {
    return {
      now: at.now,
      sightings: this.#seen.sightings(at.monotonic),
      leader: this.#options.leader(viewProvenAt),
      viewProvenAt,
    };
  }

  /** Returns how the pods stand; whatever has a reservation, and is seen in its slot, is remembered. */
  #view({ now, monotonic }: ClockReading): ProvenStanding {
    const view = this.#options.view(now);
    this.#seen.look(view.standing, monotonic);
    return view;
  }

  #trust(at: ClockReading): Trust {
    return this.#seen.trust(at, this.#sawCreation);
  }

  /** Only one process may begin a ledger: another may have given something away that its own writes do not show. */
  readonly #sawCreation = (): boolean =>
    this.#options.leader(undefined) !== undefined && this.#options.sawCreation();

  /** Reports whether what is there is no ledger, and will be made one by this process once it has been waited for. */
  #isAwaited(): boolean {
    return !this.#seen.isCurrent && this.#trust(this.#reading()).kind !== 'refused';
  }

  /** Takes out what has ended; where there is no ledger, looks on, so that none is there unseen, and makes it then. */
  async #tidied(signal: AbortSignal): Promise<void> {
    if (this.#trust(this.#reading()).kind === 'trusted') {
      const { provenAt } = this.#view(this.#reading());
      await this.#options.prove(signal, this.#seen.unshownSince(provenAt));
    }
    await this.#swaps.ask({ kind: this.#seen.isCurrent ? 'store' : 'look' }, signal);
  }

  #isToBeTidied(): boolean {
    const at = this.#reading();
    const trust = this.#trust(at);
    if (trust.kind !== 'trusted') return false;
    // A look that is not proven since may be all that is missing: before anything is stored it is.
    const view = { ...this.#view(at), provenAt: at.monotonic };
    return this.#decided([], { ledger: trust.ledger, at, view }).change !== 'none';
  }

  #saw(sight: SwapSight): void {
    this.#dropping = new Set();
    const at = this.#reading();
    this.#seen.saw(sight, at.monotonic);
    // A pod that is evicted may be gone before the next request: what follows it is known by its having been here.
    this.#view(at);
    this.#tidy.arm();
  }
}
