import type { Monotonic } from '#base/units.ts';
import type { Begun } from '#disruption/decision/decide.ts';
import type { Leader } from '#disruption/release.ts';
import { RolloutIntents } from '../budget/rollout-intents.ts';
import { type CreatedLedgerPorts, CreatedLedgers } from './created-ledgers.ts';

/** The term in which this process leads. */
export interface LeadingTerm {
  readonly term: string;
  /** From when on nothing that an earlier term sent can arrive any more (D-50). */
  readonly predecessorsOverAt: Monotonic;
  /** From when on the ledger of a new budget may be begun: what it does not have is not under way. */
  readonly mayBeginAt: Monotonic;
  /** Until when the ledger of every budget may be begun, as nobody can have let a pod go before; undefined: some may have. */
  readonly firstUntil?: Monotonic | undefined;
}

/** What this process does for the ledgers of one kind of budgets while it leads, and what it intends then. */
export class LedgerTerm {
  readonly intents = new RolloutIntents();
  /** The ledgers that it looks at, and begins where their budget is new. */
  readonly created: CreatedLedgers;
  #leading: LeadingTerm | undefined;

  constructor(ports: CreatedLedgerPorts) {
    this.created = new CreatedLedgers(ports);
  }

  /** The term; undefined while this process does not lead. */
  get term(): string | undefined {
    return this.#leading?.term;
  }

  /** Whether this process leads. */
  get isLeading(): boolean {
    return this.#leading !== undefined;
  }

  /** Notes that this process leads from now on, until {@link resign}. */
  lead(term: LeadingTerm): void {
    this.#leading = term;
  }

  /** Notes that this process does not lead any more: it wants nothing, and ends no intent. */
  resign(): void {
    this.#leading = undefined;
    this.created.retain(new Set());
    this.intents.clear();
  }

  /** Returns what this process is to a ledger whose view was proven at `viewProvenAt`; undefined while it does not lead. */
  leader(viewProvenAt: Monotonic | undefined): Leader | undefined {
    const leading = this.#leading;
    if (leading === undefined) return undefined;
    const { term, predecessorsOverAt } = leading;
    return {
      term,
      arePredecessorsOver: viewProvenAt !== undefined && viewProvenAt >= predecessorsOverAt,
      isIntended: (uid) => this.intents.isIntended(uid),
    };
  }

  /** Returns the disruptions of this term that are under way. */
  begun(): readonly Begun[] {
    return this.#leading === undefined ? [] : this.intents.begun(this.#leading.term);
  }

  /** Reports whether this process may begin the ledger of any budget, as it is the first one of its installation. */
  isFirst(now: Monotonic): boolean {
    const until = this.#leading?.firstUntil;
    return until !== undefined && now < until;
  }

  /** Reports whether this process may begin the ledger of a new budget. */
  mayBegin(now: Monotonic): boolean {
    return this.#leading !== undefined && now >= this.#leading.mayBeginAt;
  }
}
