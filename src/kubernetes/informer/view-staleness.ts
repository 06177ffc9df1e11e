import type { Clock, Timer } from '#base/clock.ts';
import { type Monotonic, millis, monotonic, seconds } from '#base/units.ts';

/** Why, and since when, a cache may lack what the server has. */
export interface Staleness {
  readonly since: Monotonic;
  /** Names the resource type, and no figure that changes while it lasts. */
  readonly message: string;
}

/** Options of {@link ViewStaleness}. */
export interface ViewStalenessOptions {
  readonly clock: Clock;
  /** Names what is viewed, such as `pods in namespace "demo"`. */
  readonly subject: string;
  /** Since when something is known to be at the server that was not delivered; see `Freshness.owedSince`. */
  readonly owedSince: () => Monotonic | undefined;
  /** The view has become stale, or is no longer. */
  readonly changed: (staleness: Staleness | undefined) => void;
}

/** How long something may be wrong with a view before it counts as stale (D-54). */
const patience = seconds(30);
/** A watch that was answered and lasts this long works, whether it delivered anything or not. */
const steadyAfter = seconds(10);
/** How long a view that delivers nothing, not even a bookmark, is believed in before a probe is worth a request. */
const quietSpan = seconds(20);
/** Time from a probe that failed to the next. */
const probeRetry = seconds(2);
/** Longest time that the answer to a probe is waited for; one that failed sooner is held against the view only then. */
export const probePatience = seconds(10);

/** Something that is wrong with the view, and when it makes the view stale; infinity while it does not. */
interface Trouble extends Staleness {
  readonly due: number;
}

/**
 * Whether the view of an informer is kept up to date (D-54): lists and watches that fail or are not answered, what is
 * known to be newer and is not delivered, and probes without an answer make it stale once they last for 30 s. Silence
 * alone does not: a server with nothing to report sends a bookmark about once a minute, or none.
 */
export class ViewStaleness {
  readonly #options: ViewStalenessOptions;
  /** When anything was delivered last. */
  #heardAt: Monotonic;
  /** When a probe was answered last. */
  #probedAt: Monotonic | undefined;
  /** Since when a list or a watch is asked for without an answer; of a list, without another part of it. */
  #waitingSince: Monotonic | undefined;
  /** When the watch under way was answered; undefined while there is none. */
  #openedAt: Monotonic | undefined;
  /** The first of the lists and watches that failed since one worked, in the words of the last. */
  #failure: Staleness | undefined;
  /** A probe that failed since anything was heard. */
  #unanswered: { readonly sentAt: Monotonic; readonly message: string } | undefined;
  #current: Staleness | undefined;
  #isStopped = false;
  #timer: Timer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(options: ViewStalenessOptions) {
    this.#options = options;
    this.#heardAt = options.clock.monotonic();
  }

  /** Returns why the view is stale; undefined while it is not. */
  get current(): Staleness | undefined {
    return this.#current;
  }

  /** Returns when a probe is next worth a request; in the past when it is now. */
  get nextProbe(): Monotonic {
    const { sentAt } = this.#unanswered ?? {};
    if (sentAt !== undefined) return monotonic(sentAt + probeRetry);
    return monotonic(Math.max(this.#heardAt, this.#probedAt ?? this.#heardAt) + quietSpan);
  }

  /** Notes that a list or a watch is asked for. */
  asked(): void {
    this.#left();
    this.#waitingSince ??= this.#options.clock.monotonic();
    this.check();
  }

  /** Notes that a watch was answered, from where the last one ended. */
  opened(): void {
    this.#openedAt = this.#options.clock.monotonic();
    this.#waitingSince = undefined;
    this.check();
  }

  /** Notes that a list or a watch failed. @param message a whole sentence that says what, and why */
  failed(message: string): void {
    this.#left();
    const since = this.#failure?.since ?? this.#waitingSince ?? this.#options.clock.monotonic();
    this.#failure = { since, message };
    this.#waitingSince = undefined;
    this.check();
  }

  /** Notes that a part of a list was delivered. */
  listing(): void {
    this.#heardAt = this.#options.clock.monotonic();
    this.#waitingSince = this.#heardAt;
    if (this.#unanswered !== undefined) this.#answered();
  }

  /** Notes that the end of a list, a change or a bookmark was delivered: what failed before works. */
  delivered(): void {
    this.#heardAt = this.#options.clock.monotonic();
    this.#waitingSince = undefined;
    this.#openedAt ??= this.#heardAt;
    const isTroubled = this.#failure !== undefined || this.#unanswered !== undefined;
    this.#failure = undefined;
    this.#unanswered = undefined;
    if (isTroubled || this.#current !== undefined) this.check();
  }

  /** Notes that the server does not serve the type: there is nothing to be kept up to date. */
  absent(): void {
    this.delivered();
    this.#openedAt = undefined;
  }

  /** Notes that a probe was answered. */
  probeAnswered(): void {
    this.#probedAt = this.#options.clock.monotonic();
    this.#answered();
  }

  /** Notes that a probe that was sent at `sentAt` failed. @param message a whole sentence that says why */
  probeFailed(sentAt: Monotonic, message: string): void {
    // What was heard while it was under way is a better answer.
    if (this.#heardAt > sentAt) return;
    this.#unanswered = { sentAt, message };
    this.check();
  }

  /** Looks whether the view is stale now, and sets the timer for the next look. */
  check(): void {
    if (this.#isStopped) return;
    const now = this.#options.clock.monotonic();
    if (this.#isSteady(now)) this.#failure = undefined;
    const troubles = this.#troubles();
    const [first] = troubles.filter(({ due }) => due <= now).sort((a, b) => a.since - b.since);
    this.#wait(troubles, now);
    const before = this.#current;
    this.#current =
      first === undefined ? undefined : { since: first.since, message: first.message };
    if ((before === undefined) !== (first === undefined)) this.#options.changed(this.#current);
  }

  /** Ends the watch over the view: nothing is kept up to date any more, and nothing said. */
  stop(): void {
    this.#timer?.cancel();
    this.#isStopped = true;
    this.#current = undefined;
  }

  #answered(): void {
    this.#unanswered = undefined;
    this.check();
  }

  /** Notes that the watch under way has ended. */
  #left(): void {
    if (this.#isSteady(this.#options.clock.monotonic())) this.#failure = undefined;
    this.#openedAt = undefined;
  }

  #isSteady(now: Monotonic): boolean {
    return this.#openedAt !== undefined && now - this.#openedAt >= steadyAfter;
  }

  #troubles(): readonly Trouble[] {
    const { subject, owedSince } = this.#options;
    const troubles: Trouble[] = [];
    const add = (since: Monotonic | undefined, message: string): void => {
      if (since !== undefined) troubles.push({ since, message, due: since + patience });
    };
    add(this.#waitingSince, `the server does not answer the list or watch of ${subject}`);
    add(owedSince(), `the watch of ${subject} does not show what the server is known to have`);
    if (this.#failure !== undefined) troubles.push(this.#ofFailure(this.#failure));
    if (this.#unanswered !== undefined) {
      const { sentAt, message } = this.#unanswered;
      const due = Math.max(this.#heardAt + patience, sentAt + probePatience);
      troubles.push({ since: this.#heardAt, message, due });
    }
    return troubles;
  }

  /**
   * Returns the trouble of a failure. A watch that was answered after it may have resolved it: neither is said before it is
   * steady.
   */
  #ofFailure(failure: Staleness): Trouble {
    const isOpen = this.#openedAt !== undefined;
    const isDue = !isOpen || this.#current !== undefined;
    return { ...failure, due: isDue ? failure.since + patience : Number.POSITIVE_INFINITY };
  }

  #wait(troubles: readonly Trouble[], now: Monotonic): void {
    const dues = troubles.map(({ due }) => due);
    if (this.#failure !== undefined && this.#openedAt !== undefined) {
      dues.push(this.#openedAt + steadyAfter);
    }
    const next = Math.min(...dues.filter((due) => due > now));
    if (next === this.#timerAt) return;
    this.#timer?.cancel();
    this.#timerAt = next;
    if (!Number.isFinite(next)) return;
    this.#timer = this.#options.clock.timer(millis(next - now), () => this.#fired(), {
      owner: `look at the view of ${this.#options.subject}`,
      background: true,
    });
  }

  #fired(): void {
    this.#timerAt = Number.POSITIVE_INFINITY;
    this.check();
  }
}
