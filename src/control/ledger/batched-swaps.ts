import type { Clock } from '#base/clock.ts';
import { backoffAfter } from '#base/time/backoff.ts';
import { type Instant, type Millis, type Monotonic, millis } from '#base/units.ts';
import type { CallOptions } from '#kubernetes/client.ts';
import { hasLostSwap, type SharedTexts, type TextChanges } from '#kubernetes/shared-config-map.ts';
import { ApiError, isOutcomeUnknown } from '#kubernetes/transport/api-error.ts';
import { TransportError } from '#kubernetes/transport/transport.ts';

/** What a decision makes of the texts that processes share. */
export interface Swap<Answer> {
  /** Empty: nothing is written, and the answers hold as they are. */
  readonly changes: TextChanges;
  /** One for each request, in their order. */
  readonly answers: readonly Answer[];
}

/** What {@link BatchedSwaps} work with. */
export interface BatchedSwapOptions<Asked, Answer> {
  readonly clock: Clock;
  readonly map: {
    read(options: CallOptions): Promise<SharedTexts>;
    write(map: SharedTexts, changes: TextChanges, options: CallOptions): Promise<SharedTexts>;
  };
  /** How long each call may take. */
  readonly patience: Millis;
  /** Returns how old the texts may be that a decision is made on; what others wrote shows by then. */
  freshFor(): Millis;
  /**
   * Decides on all that is asked at one instant, in its order, on `shared` and whatever the caches show right now.
   * Synchronous, and the same for the same. Called once more, as of the same time, just before a write leaves: what would
   * be decided differently by then is not sent.
   */
  decide(asked: readonly Asked[], shared: SharedTexts, at: ClockReading): Swap<Answer>;
  /** Called with what was read, or is there after a write of ours, before anything is decided on it. */
  onSeen?(sight: SwapSight): void;
  /** A write was handed to the connection. */
  onSent?(): void;
}

/** What a request showed. */
export interface SwapSight {
  readonly shared: SharedTexts;
  /** When it was sent. */
  readonly provenAt: Monotonic;
  readonly by: 'read' | 'write';
}

/** One reading of both clocks. */
export interface ClockReading {
  readonly now: Instant;
  readonly monotonic: Monotonic;
}

interface Round<Asked, Answer> {
  readonly seen: Seen;
  readonly batch: readonly Waiting<Asked, Answer>[];
  readonly at: ClockReading;
}

interface Waiting<Asked, Answer> {
  readonly asked: Asked;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

interface Seen {
  readonly shared: SharedTexts;
  /** When the read, or the write, that showed it was sent. */
  readonly provenAt: Monotonic;
}

/** Losses against others that follow one another at once; later ones wait. */
const atOnce = 3;
const pauses = { first: millis(20), longest: millis(640) };
/** Failures in a row of the API server after which the caller hears of it. */
const mostFailures = 4;
/** Losses in a row after which the same: another client writes each time, and is not to be raced for ever. */
const mostLosses = 16;

/** What was decided is not what would be decided now: decide again. */
class OutdatedSwapError extends Error {
  override readonly name = 'OutdatedSwapError';

  constructor() {
    super('What was decided has been overtaken before it was sent');
  }
}

/**
 * Decisions that many ask for, on texts that several processes share in one ConfigMap. A caller that asks while a write is
 * under way is decided on together with all others that wait, so that they share one write; what changes nothing costs
 * none. An answer that rests on a change is given once that is stored: by compare-and-swap, decided again on what others
 * wrote in between.
 */
export class BatchedSwaps<Asked, Answer> {
  readonly #options: BatchedSwapOptions<Asked, Answer>;
  /** Kept in the order of asking. */
  readonly #waiting = new Set<Waiting<Asked, Answer>>();
  /** Undefined: it has to be read. */
  #seen: Seen | undefined;
  #isRunning = false;

  constructor(options: BatchedSwapOptions<Asked, Answer>) {
    this.#options = options;
  }

  /**
   * Answers `asked`, once that may be relied on.
   *
   * @throws the reason of `signal` when that aborts first; what the client throws when the API server fails again and again
   */
  async ask(asked: Asked, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const waiting = { asked, resolve, reject };
    const leave = (): void => {
      this.#waiting.delete(waiting);
      reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#waiting.add(waiting);
    // It ends by telling those that wait what it met, and throws nothing.
    if (!this.#isRunning) void this.#run();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  async #run(): Promise<void> {
    let [tries, losses, failures] = [0, 0, 0];
    this.#isRunning = true;
    // A caller of the same instant is heard before anything is decided.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      try {
        await this.#round();
        [tries, losses, failures] = [0, 0, 0];
      } catch (error) {
        const setback = setbackOf(error);
        if (setback !== 'outdated') this.#seen = undefined;
        if (setback === 'failed') failures += 1;
        if (setback === 'lost') losses += 1;
        tries += 1;
        if (setback === 'refused' || failures >= mostFailures || losses >= mostLosses) {
          this.#refuseAll(error);
          [tries, losses, failures] = [0, 0, 0];
        } else await this.#pause(tries);
      }
    }
    this.#isRunning = false;
  }

  /** Decides on all that wait now. @throws what a call fails with; no caller was answered then */
  async #round(): Promise<void> {
    const seen = await this.#fresh();
    const { clock } = this.#options;
    const batch = [...this.#waiting];
    const round = { seen, batch, at: { now: clock.now(), monotonic: clock.monotonic() } };
    const swap = this.#decide(round);
    if (swap.changes.size > 0) await this.#write(round, swap);
    for (const [index, waiting] of batch.entries()) {
      const answer = swap.answers[index];
      this.#waiting.delete(waiting);
      if (answer === undefined) waiting.reject(new Error('A request got no decision'));
      else waiting.resolve(answer);
    }
  }

  #decide({ batch, seen, at }: Round<Asked, Answer>): Swap<Answer> {
    const asked = batch.map((waiting) => waiting.asked);
    return this.#options.decide(asked, seen.shared, at);
  }

  async #fresh(): Promise<Seen> {
    const { clock, map, patience } = this.#options;
    const seen = this.#seen;
    const sentAt = clock.monotonic();
    if (seen !== undefined && sentAt - seen.provenAt <= this.#options.freshFor()) return seen;
    const shared = await map.read({ timeout: patience });
    return this.#saw({ shared, provenAt: sentAt, by: 'read' });
  }

  async #write(round: Round<Asked, Answer>, swap: Swap<Answer>): Promise<void> {
    const { clock, map, patience } = this.#options;
    const { seen, batch } = round;
    let sentAt = clock.monotonic();
    const beforeSend = (): void => {
      // What nothing waits for any more is not to be stored either.
      const isWanted = batch.every((waiting) => this.#waiting.has(waiting));
      if (!isWanted || !isSame(this.#decide(round), swap)) throw new OutdatedSwapError();
      sentAt = clock.monotonic();
      this.#options.onSent?.();
    };
    const options = { timeout: patience, beforeSend };
    const shared = await map.write(seen.shared, swap.changes, options);
    this.#saw({ shared, provenAt: sentAt, by: 'write' });
  }

  #saw(sight: SwapSight): Seen {
    this.#options.onSeen?.(sight);
    this.#seen = sight;
    return sight;
  }

  #refuseAll(error: unknown): void {
    for (const waiting of this.#waiting) waiting.reject(error);
    this.#waiting.clear();
  }

  async #pause(lost: number): Promise<void> {
    if (lost <= atOnce) return;
    const pause = backoffAfter(lost - atOnce - 1, pauses);
    await this.#options.clock.sleep(pause, { owner: 'compare-and-swap' });
  }
}

/** Reports whether both store the same: what is permitted by now is there, and nothing else. */
function isSame<Answer>({ changes: one }: Swap<Answer>, { changes: other }: Swap<Answer>): boolean {
  return one.size === other.size && [...one].every(([key, text]) => other.get(key) === text);
}

/**
 * Returns what a round met: it was overtaken by the world, it lost against another process, the server failed in a way that
 * may pass, or it refused.
 */
function setbackOf(error: unknown): 'outdated' | 'lost' | 'failed' | 'refused' {
  if (error instanceof OutdatedSwapError) return 'outdated';
  if (hasLostSwap(error)) return 'lost';
  const mayPass = isOutcomeUnknown(error) || error instanceof TransportError || isPassing(error);
  return mayPass ? 'failed' : 'refused';
}

/** Reports whether the server throttles, or fails: also by a webhook that it cannot ask. */
function isPassing(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 429 || error.status >= 500);
}
