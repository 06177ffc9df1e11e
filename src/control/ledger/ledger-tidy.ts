import type { Clock, Timer } from '#base/clock.ts';
import { backoffAfter } from '#base/time/backoff.ts';
import { minutes, seconds } from '#base/units.ts';

/** What {@link LedgerTidy} works with. */
export interface LedgerTidyOptions {
  readonly clock: Clock;
  /** Reports whether the ledger has anything at all. */
  isNeeded(): boolean;
  /** Reports whether something has ended that the stored ledger still has. */
  isWanted(): boolean;
  /** Stores that; @throws what the client throws */
  store(signal: AbortSignal): Promise<unknown>;
  /** Notes with what a write failed; undefined: it did not. */
  ended(failure: unknown): void;
}

/** How long what has ended waits for a write that is due anyway. */
const pause = seconds(3);
const pauses = { first: pause, longest: minutes(2) };

/** Takes what has ended out of a ledger that no other client writes: people, and other replicas, see what is granted. */
export class LedgerTidy {
  readonly #options: LedgerTidyOptions;
  readonly #closed = new AbortController();
  #timer: Timer | undefined;
  #failures = 0;

  constructor(options: LedgerTidyOptions) {
    this.#options = options;
  }

  /**
   * Takes note of a ledger that was read or written: where it has anything, looks shortly afterwards whether that has ended, and
   * again.
   */
  arm(): void {
    if (this.#timer !== undefined || this.#closed.signal.aborted) return;
    if (!this.#options.isNeeded()) return;
    const delay = this.#failures === 0 ? pause : backoffAfter(this.#failures - 1, pauses);
    const options = { owner: 'tidying of a ledger', background: true };
    this.#timer = this.#options.clock.timer(delay, () => void this.#look(), options);
  }

  close(): void {
    this.#closed.abort();
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    if (this.#options.isWanted()) await this.#store();
    // Not before: what the write itself sees would arm it for as long as after the failures that it ends.
    this.#timer = undefined;
    this.arm();
  }

  async #store(): Promise<void> {
    const { signal } = this.#closed;
    try {
      await this.#options.store(signal);
      this.#failures = 0;
      this.#options.ended(undefined);
    } catch (error) {
      if (signal.aborted) return;
      this.#failures += 1;
      this.#options.ended(error);
    }
  }
}
