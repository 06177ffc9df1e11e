import { backoffAfter } from '#base/time/backoff.ts';
import { type Millis, type Monotonic, millis, seconds } from '#base/units.ts';
import { TransportError } from '../transport/transport.ts';
import { needsRelist } from './list-watch-failure.ts';
import { WatchSilentError } from './silence-alarm.ts';
import { WatchDecodeError } from './watch-decoder.ts';

const healthyAfter = seconds(10);
/** Longest wait after an answer that refuses: who gave it is there, and may have too much to do. */
const longestBackoff = seconds(30);
/**
 * Longest wait where no server answers: asking costs no server anything, and until it is heard again that pods have become
 * ready, no eviction that waits for them is let go.
 */
const longestUnanswered = seconds(5);
/** Fruitless resumptions in a row (silence, bytes that are no events) before the position itself is doubted. */
const maxFruitless = 2;

/** When lists and watches that ended are tried again, and whether from where they were. */
export class ListWatchRetries {
  readonly #backoff = new ReflectorBackoff();
  /** Whether the watch under way, or the last one, delivered anything new. */
  #hasProgressed = false;
  #fruitless = 0;
  #longest = longestBackoff;

  /** Reports whether resumptions were in vain since something was heard. */
  get isFruitless(): boolean {
    return this.#fruitless > 0;
  }

  /** Notes that a list or a watch begins. */
  begun(): void {
    this.#hasProgressed = false;
    this.#longest = longestBackoff;
  }

  /** Notes that the watch delivered something new. */
  progressed(): void {
    this.#hasProgressed = true;
  }

  /** Notes that something was heard. */
  worked(): void {
    this.#fruitless = 0;
  }

  /** Notes that a list or a watch failed with `error`. @returns whether its position is to be given up */
  failed(error: unknown): boolean {
    if (error instanceof TransportError) this.#longest = longestUnanswered;
    if (error instanceof WatchSilentError || error instanceof WatchDecodeError) {
      this.#fruitless += 1;
    }
    if (!needsRelist(error) && this.#fruitless < maxFruitless) return false;
    this.#fruitless = 0;
    return true;
  }

  /**
   * Returns how long to wait after what began at `start` and ended `now`: a watch that lasted is resumed at once, one that
   * delivered something new soon; any other waits ever longer.
   *
   * @param asked what the server asked for; waited for at least
   */
  delay(start: Monotonic, now: Monotonic, asked: Millis): Millis {
    if (now - start >= healthyAfter) {
      this.#backoff.reset();
      return asked;
    }
    if (this.#hasProgressed) this.#backoff.reset();
    return millis(Math.max(asked, this.#backoff.next(this.#longest)));
  }
}

/** A delay that doubles from 100 ms; without jitter, so that a run can be repeated exactly. */
class ReflectorBackoff {
  #failures = 0;

  /** Returns the next delay, of at most `longest`. */
  next(longest: Millis): Millis {
    const delay = backoffAfter(this.#failures, { first: millis(100), longest });
    this.#failures += 1;
    return delay;
  }

  /** Resets the next delay to the shortest. */
  reset(): void {
    this.#failures = 0;
  }
}
