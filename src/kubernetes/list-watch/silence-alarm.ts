import type { Clock, Timer } from '#base/clock.ts';
import { type Millis, type Monotonic, millis } from '#base/units.ts';

/** A watch delivered nothing for too long, not even a bookmark (D-9). */
export class WatchSilentError extends Error {
  override readonly name = 'WatchSilentError';
}

/** Options of {@link SilenceAlarm}. */
export interface SilenceAlarmOptions {
  readonly clock: Clock;
  /** Aborts {@link SilenceAlarm.signal} too. */
  readonly signal: AbortSignal;
  /** Names the timer. */
  readonly owner: string;
}

/**
 * Aborts a watch that is silent (D-9). Arming it again costs nothing while its timer still runs, so that each
 * event may do so.
 */
export class SilenceAlarm implements Disposable {
  readonly #options: SilenceAlarmOptions;
  readonly #controller = new AbortController();
  readonly #follow = (): void => this.#controller.abort(this.#options.signal.reason);
  #silence: WatchSilentError | undefined;
  #heardAt: Monotonic;
  #limit: Millis = millis(0);
  #timer: Timer | undefined;

  constructor(options: SilenceAlarmOptions) {
    this.#options = options;
    this.#heardAt = options.clock.monotonic();
    if (options.signal.aborted) this.#follow();
    else options.signal.addEventListener('abort', this.#follow, { once: true });
  }

  /** Aborts when the alarm goes off, or the caller's signal does. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Returns the failure once the alarm went off. */
  get silence(): WatchSilentError | undefined {
    return this.#silence;
  }

  /** Notes that something was heard; goes off when nothing is for `limit` from now. */
  arm(limit: Millis): void {
    this.#heardAt = this.#options.clock.monotonic();
    // A shorter limit needs an earlier timer; a longer one is noticed when the timer fires.
    if (this.#timer !== undefined && limit >= this.#limit) {
      this.#limit = limit;
      return;
    }
    this.#limit = limit;
    this.#timer?.cancel();
    this.#wait(limit);
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    this.#options.signal.removeEventListener('abort', this.#follow);
  }

  #wait(span: Millis): void {
    const { clock, owner } = this.#options;
    this.#timer = clock.timer(span, () => this.#check(), { owner, background: true });
  }

  #check(): void {
    const quiet = this.#options.clock.monotonic() - this.#heardAt;
    if (quiet < this.#limit) {
      this.#wait(millis(this.#limit - quiet));
      return;
    }
    this.#silence = new WatchSilentError(`nothing was heard for ${this.#limit / 1_000} s`);
    this.#controller.abort(this.#silence);
  }
}
