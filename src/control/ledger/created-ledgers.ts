import type { Clock, Timer } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { type Millis, minutes, seconds } from '#base/units.ts';

/** A budget whose ledger is looked at. */
export interface LookedAtBudget {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** What {@link CreatedLedgers} go through. */
export interface CreatedLedgerPorts {
  readonly clock: Clock;
  readonly log: Logger;
  /** Reports whether this process saw the budget being made just now. */
  sawCreation(uid: string): boolean;
}

/** How often all ledgers are looked at, as a process that gave something away may have ended before it took that out. */
const againAfter: Millis = minutes(5);
/** How soon a look that failed is repeated, while the budget is still new. */
const retryAfter: Millis = seconds(2);

/**
 * Looks at the ledger of each budget once the leader comes to know it: that of one that was just made is begun at once,
 * so that all replicas give away under it, and the wait for what is unknown begins (D-34).
 */
export class CreatedLedgers {
  readonly #ports: CreatedLedgerPorts;
  readonly #looked = new Set<string>();
  readonly #timers = new Map<string, Timer>();
  readonly #closed = new AbortController();
  /** Ends with the last look at a budget that is not new: a thousand of them are looked at one after the other. */
  #turn: Promise<void> = Promise.resolve();

  constructor(ports: CreatedLedgerPorts) {
    this.#ports = ports;
  }

  /** Has `look` look at the ledger of `budget`, and again every five minutes; of one that is new soon where that failed. */
  look(budget: LookedAtBudget, look: (signal: AbortSignal) => Promise<void>): void {
    const { uid } = budget;
    if (this.#looked.has(uid) || this.#closed.signal.aborted) return;
    this.#looked.add(uid);
    if (this.#ports.sawCreation(uid)) void this.#try(budget, look);
    else this.#turn = this.#turn.then(() => this.#try(budget, look));
    this.#again(budget, look);
  }

  /** Ends the looks at ledgers of other budgets than `uids`. */
  retain(uids: ReadonlySet<string>): void {
    for (const uid of this.#looked) if (!uids.has(uid)) this.forget(uid);
  }

  /** Ends the looks at the ledger of the budget `uid`. */
  forget(uid: string): void {
    this.#looked.delete(uid);
    this.#timers.get(uid)?.cancel();
    this.#timers.delete(uid);
  }

  #again(budget: LookedAtBudget, look: (signal: AbortSignal) => Promise<void>): void {
    const again = (): void => {
      this.#turn = this.#turn.then(() => this.#try(budget, look));
      this.#again(budget, look);
    };
    const options = { owner: 'look at a ledger', background: true };
    this.#timers.set(budget.uid, this.#ports.clock.timer(againAfter, again, options));
  }

  close(): void {
    this.#closed.abort();
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  async #try(budget: LookedAtBudget, look: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#closed;
    const { namespace, name, uid } = budget;
    try {
      await look(signal);
    } catch (error) {
      if (signal.aborted) return;
      const fields = { namespace, budget: name, err: errorOf(error) };
      this.#ports.log.warn('the ledger of a disruption budget cannot be looked at', fields);
      if (!this.#ports.sawCreation(uid)) return;
      const again = (): void => {
        if (!signal.aborted && this.#looked.has(uid)) void this.#try(budget, look);
      };
      const options = { owner: 'ledger of a new budget', background: true };
      this.#ports.clock.timer(retryAfter, again, options);
    }
  }
}
