/**
 * Which requests a Lease says may be under way. A holder names each request that may take a pod in its Lease before it sends it, so that
 * the process which takes the Lease over knows of what it may have to wait for, and that there is nothing else.
 */
import { errorOf } from '#base/error-of.ts';
import { type Millis, type Monotonic, minutes, monotonic } from '#base/units.ts';
import { ApiError } from '../transport/api-error.ts';
import { TransportError } from '../transport/transport.ts';
import type { Predecessor } from './plan-predecessor.ts';

/** Names of requests, as whoever sends them chose them; undefined: the Lease says nothing, so that anything may be under way. */
export type Statement = readonly string[] | undefined;

/** A request that the Lease names. */
export interface Announcement {
  /**
   * Ends it: the next renewal does not name the request any more.
   *
   * @param isOver when it can have no effect any more; undefined: it has none from now on
   */
  end(isOver?: Monotonic): void;
}

/** The announcement of a request that is sent without a Lease. */
export const notNamed: Announcement = { end: () => undefined };

/** How long a Lease names no requests after one that did was refused, or changed by another on its way. */
const muteFor = minutes(10);
/** How many requests a Lease names at most: one with more says nothing. */
const mostNamed = 256;

interface Named {
  /** How many requests of this name have not ended. */
  open: number;
  /** From when on none that ended without an answer can have an effect. */
  over: Monotonic;
}

/** What {@link Announcements} go by. */
export interface AnnouncementOptions {
  /** How long a request may arrive after its sender has died. */
  readonly horizon: Millis;
  /** Has the Lease renewed at once, as it is to name a request. */
  readonly renew: () => void;
  /** Called when the Lease cannot name requests for a while, with the reason. */
  readonly muted: (because: string) => void;
}

/** The requests of one process, and what its Lease says of them. */
export class Announcements {
  readonly #options: AnnouncementOptions;
  /** When this process began to lead. */
  #ledSince: Monotonic | undefined;
  readonly #named = new Map<string, Named>();
  /** All that the Lease may say now: what was stored last, and every write since whose outcome is unknown. Undefined: none is ours. */
  #possible: readonly Statement[] | undefined;
  readonly #waiting = new Set<() => void>();
  /** Whether one of them is in no write yet. */
  #isUnwritten = false;
  #mutedUntil = monotonic(Number.NEGATIVE_INFINITY);
  #written: Statement;

  constructor(options: AnnouncementOptions) {
    this.#options = options;
  }

  /** Whether a request waits that no write was to name yet. */
  get isWanted(): boolean {
    return this.#isUnwritten;
  }

  /**
   * Returns what the Lease is to say from `now` on, where it may say it already: what this process has under way, and what its
   * predecessor may have for as long as that can arrive; nothing while it is unknown what that is.
   */
  writing(predecessor: Predecessor, now: Monotonic): Statement {
    const statement = now < this.#mutedUntil ? undefined : this.#statement(predecessor, now);
    this.#isUnwritten = false;
    this.#written = statement;
    this.#possible = this.#possible && [...this.#possible, statement];
    return statement;
  }

  #statement(predecessor: Predecessor, now: Monotonic): Statement {
    const own = this.#underWay(now);
    if (predecessor.kind === 'ended') return bounded(own);
    const from = predecessor.kind === 'unclean' ? predecessor.countedFrom : (this.#ledSince ?? now);
    if (now >= from + this.#options.horizon) return bounded(own);
    const left = predecessor.kind === 'unclean' ? predecessor.requests : undefined;
    return left && bounded([...new Set([...left, ...own])]);
  }

  #underWay(now: Monotonic): readonly string[] {
    for (const [request, { open, over }] of this.#named) {
      if (open === 0 && now >= over) this.#named.delete(request);
    }
    return [...this.#named.keys()];
  }

  /** Notes that this process leads since `now`. */
  led(now: Monotonic): void {
    this.#ledSince = now;
  }

  /**
   * Notes that `statement` was stored at `now`: nothing that was written before it can be stored any more. Where it is not what was
   * written, somebody changes it on its way, and it is left out.
   */
  stored(statement: Statement, now: Monotonic): void {
    this.#possible = [statement];
    const isChanged = statement !== undefined && statement.join() !== this.#written?.join();
    if (isChanged) this.#mute('another client changes what it says', now);
    for (const look of this.#waiting) look();
  }

  /** Notes that a write has failed: where it was refused for what it says, the next one says nothing. */
  failed(error: Error, now: Monotonic): void {
    const cause = error instanceof ApiError ? error : error.cause;
    if (this.#written === undefined || !(cause instanceof ApiError)) return;
    const isRefused = cause.isAdmissionRefusal || (cause.status >= 400 && cause.status < 500);
    if (isRefused && !passing.has(cause.status)) this.#mute(error.message, now);
  }

  #mute(because: string, now: Monotonic): void {
    if (now >= this.#mutedUntil) this.#options.muted(because);
    this.#mutedUntil = monotonic(now + muteFor);
  }

  /** Notes that the Lease is not ours. */
  lost(): void {
    this.#possible = undefined;
    this.#ledSince = undefined;
  }

  /**
   * Resolves when the Lease names `request`, or says nothing.
   *
   * @throws {TransportError} `not-sent`, when `signal` aborts before
   */
  async announce(request: string, signal: AbortSignal): Promise<Announcement> {
    const named = this.#named.get(request) ?? { open: 0, over: monotonic(0) };
    this.#named.set(request, named);
    named.open += 1;
    try {
      if (!this.#isNamed(request)) await this.#untilNamed(request, signal);
    } catch (error) {
      named.open -= 1;
      throw error;
    }
    return {
      end: (isOver) => {
        named.open -= 1;
        if (isOver !== undefined && isOver > named.over) named.over = isOver;
      },
    };
  }

  #isNamed(request: string): boolean {
    return this.#possible?.every((said) => said === undefined || said.includes(request)) ?? false;
  }

  async #untilNamed(request: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = (): void => {
      if (this.#isNamed(request)) resolve();
    };
    const abort = (): void => reject(notSent(signal));
    signal.addEventListener('abort', abort, { once: true });
    this.#waiting.add(look);
    this.#isUnwritten = true;
    try {
      if (signal.aborted) abort();
      else this.#options.renew();
      await promise;
    } finally {
      this.#waiting.delete(look);
      signal.removeEventListener('abort', abort);
    }
  }
}

/** Answers of 4xx that say nothing of what was written. */
const passing: ReadonlySet<number> = new Set([401, 404, 408, 409, 429]);

function bounded(requests: readonly string[]): Statement {
  return requests.length > mostNamed ? undefined : requests;
}

function notSent(signal: AbortSignal): TransportError {
  const message = 'the call was aborted before the Lease named it, it was not sent';
  return new TransportError(message, 'not-sent', { cause: errorOf(signal.reason) });
}
