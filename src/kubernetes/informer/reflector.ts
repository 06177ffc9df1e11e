import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import { type Millis, type Monotonic, millis, seconds } from '#base/units.ts';
import type { CallOptions, Client, WatchQuery } from '../client.ts';
import { listPages } from '../list-watch/list-pages.ts';
import { type ListScope, scopeOf, subjectOf } from '../list-watch/list-scope.ts';
import {
  retryAfterOf,
  statusOf,
  UnmarkedListError,
  WatchEndedError,
} from '../list-watch/list-watch-failure.ts';
import { ListWatchRetries } from '../list-watch/list-watch-retries.ts';
import { WatchSilentError } from '../list-watch/silence-alarm.ts';
import { StreamingLists } from '../list-watch/streaming-lists.ts';
import {
  type WatchChangeType,
  WatchDecoder,
  type WatchEvent,
} from '../list-watch/watch-decoder.ts';
import { readWatch, type WatchReading } from '../list-watch/watch-reading.ts';
import { type SpecReading, textReading } from '../list-watch/without-spec.ts';
import type { KubernetesObject } from '../object.ts';
import type { ResourceType } from '../resource-type.ts';
import { newerRevision, RevisionWentBackError } from '../revision.ts';
import type { TransportStream } from '../transport/transport.ts';
import type { InformerProblem } from './informer.ts';
import { ProblemReports } from './problem-reports.ts';

/** Where a whole list stands. */
export interface ListedAt {
  readonly revision: string;
  /** When its request was sent. */
  readonly sentAt: Monotonic;
  readonly by: 'streaming-list' | 'consistent-read';
}

/** What a {@link Reflector} reports. Calls come in order; a list may begin again before it ended. */
export interface ReflectorTarget {
  listBegan(): void;
  /** Notes that a watch is asked for that resumes where the last one ended. */
  watchBegan(): void;
  /** Notes that the server has answered that request. */
  watchOpened(): void;
  /** Notes that the list or the watch failed. @param message a whole sentence */
  failed(message: string): void;
  /** Takes in that `object` is there, or was deleted, as a list or a watch says. */
  changed(type: WatchChangeType, object: KubernetesObject): void;
  /**
   * Notes that the list is whole: what it did not show is gone.
   * @throws {RevisionWentBackError} when it is older than what had been seen (D-6)
   */
  listEnded(list: ListedAt): void;
  /** Takes a bookmark: everything up to `revision` was delivered. */
  progressed(revision: string): void;
  /** Notes that the server does not serve the type, as it answered a request that was sent at `sentAt` or later. */
  absent(sentAt: Monotonic): void;
  /** Notes that the server serves the type that was absent, as it answered a request that was sent at `sentAt` or later. */
  served(sentAt: Monotonic): void;
}

/** Options of {@link Reflector}. */
export interface ReflectorOptions extends ListScope {
  readonly client: Client;
  readonly clock: Clock;
  readonly type: ResourceType;
  readonly target: ReflectorTarget;
  readonly report: (problem: InformerProblem) => void;
  /** Whether a 404 of the list means that the type is not installed, which is no failure. */
  readonly isAbsentAllowed: boolean;
  /** Whether any caller reads the spec of the objects. @default true */
  readonly isSpecRead?: SpecReading;
}

/** Longest silence of a watch (D-9), and of a streaming list that has not shown its end. */
const watchSilence = seconds(90);
const listSilence = seconds(30);
const absentRetry = seconds(30);
const timeoutSeconds = 290;

/**
 * Lists one resource type, then watches it, for ever, and passes to a {@link ReflectorTarget} what it learns.
 *
 * ```text
 *   list (stream, else pages) ──► watch ──► broken, ended, silent, garbage ──► watch again, where it was
 *     ▲                             └─────► 410 in any form, refused ──┐
 *     └────────────────────────────────────────────────────────────────┘
 * ```
 */
export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #retries = new ListWatchRetries();
  readonly #streamingLists = new StreamingLists();
  readonly #problems: ProblemReports;
  /** Where the watch resumes; undefined when a list is due. */
  #position: string | undefined;
  #isAbsent = false;
  /** Ends the pause under way. */
  #hurry = new AbortController();

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#problems = new ProblemReports(options.report);
  }

  /** Runs until `signal` aborts; then resolves. @throws {RevisionWentBackError} as the target does */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const pause = await this.#attempt(signal);
      if (!signal.aborted && pause > 0) await this.#pause(pause, signal);
    }
  }

  /** Ends the pause between two attempts that is under way, or else the next one. */
  hurry(): void {
    this.#hurry.abort();
  }

  /** Runs one list with its watch, or one watch. @returns how long to wait before the next */
  async #attempt(signal: AbortSignal): Promise<Millis> {
    const { clock } = this.#options;
    const start = clock.monotonic();
    const wasListing = this.#position === undefined;
    this.#retries.begun();
    try {
      await this.#listAndWatch(signal);
      if (this.#isAbsent) return absentRetry;
      return this.#retries.delay(start, clock.monotonic(), millis(0));
    } catch (error) {
      if (error instanceof RevisionWentBackError) throw error;
      if (signal.aborted) return millis(0);
      const isListing = wasListing && this.#position === undefined;
      this.#failed(error, isListing);
      // A list that fails slowly is as sick as one that fails at once.
      const now = clock.monotonic();
      return this.#retries.delay(isListing ? now : start, now, retryAfterOf(error));
    }
  }

  async #listAndWatch(signal: AbortSignal): Promise<void> {
    if (this.#position === undefined) {
      const isWatched = await this.#list(signal);
      if (isWatched || this.#isAbsent) return;
    }
    await this.#follow({ allowWatchBookmarks: true, timeoutSeconds }, signal);
  }

  /** Lists all objects. @returns whether the list went on as a watch, which has ended */
  async #list(signal: AbortSignal): Promise<boolean> {
    if (!this.#streamingLists.isKnownBad && !this.#isAbsent) {
      try {
        await this.#streamList(signal);
        return true;
      } catch (error) {
        if (this.#position !== undefined || !this.#streamingLists.failed(error)) throw error;
      }
    }
    await this.#pageList(signal);
    return false;
  }

  async #streamList(signal: AbortSignal): Promise<void> {
    this.#options.target.listBegan();
    await this.#follow(
      { sendInitialEvents: true, allowWatchBookmarks: true, timeoutSeconds },
      signal,
    );
    if (this.#position !== undefined) return;
    throw new UnmarkedListError('the streaming list ended without marking its end', false);
  }

  async #pageList(signal: AbortSignal): Promise<void> {
    const { client, clock, type, target } = this.#options;
    target.listBegan();
    const sentAt = clock.monotonic();
    const onPage = (items: readonly KubernetesObject[]): void => {
      if (this.#isAbsent) target.served(sentAt);
      this.#isAbsent = false;
      for (const object of items) target.changed('ADDED', object);
    };
    const paged = { client, clock, type, scope: scopeOf(this.#options), onPage };
    const list = await listPages(paged, signal).catch((error: unknown) =>
      this.#absent(error, sentAt),
    );
    if (list !== undefined) this.#listEnded({ ...list, by: 'consistent-read' });
  }

  /** Tells the target that the type is absent, if that is allowed and what `error` says; else throws it. */
  #absent(error: unknown, sentAt: Monotonic): undefined {
    if (!this.#options.isAbsentAllowed || statusOf(error) !== 404) throw error;
    this.#isAbsent = true;
    this.#options.target.absent(sentAt);
    this.#problems.failed(
      'TypeAbsent',
      `Cannot list ${this.#subject()} as the server does not serve them`,
    );
  }

  #listEnded(list: ListedAt): void {
    this.#options.target.listEnded(list);
    this.#streamingLists.listed();
    this.#position = list.revision;
    this.#worked();
  }

  /** Reads one watch until it ends, however it ends. */
  #follow(query: WatchQuery, signal: AbortSignal): Promise<void> {
    const { clock, isSpecRead } = this.#options;
    let sentAt = clock.monotonic();
    const beforeSend = (): void => {
      sentAt = clock.monotonic();
    };
    const reading: WatchReading = {
      clock,
      subject: this.#subject(),
      open: (leaving) => this.#open(query, { signal: leaving, beforeSend }),
      decoder: new WatchDecoder(textReading(isSpecRead)),
      receive: (event) => this.#receive(event, sentAt),
      silenceLimit: () => (this.#position === undefined ? listSilence : watchSilence),
    };
    return readWatch(reading, signal);
  }

  /** Asks for a watch, which resumes where the last one ended if there is such a place. */
  async #open(query: WatchQuery, call: CallOptions): Promise<TransportStream> {
    const { client, type, target } = this.#options;
    const position = this.#position;
    const from = position === undefined ? {} : { resourceVersion: position };
    if (position !== undefined) target.watchBegan();
    const scope = scopeOf(this.#options);
    const stream = await client.watch(type, { ...scope, ...from, ...query }, call);
    if (position !== undefined) target.watchOpened();
    return stream;
  }

  #receive(event: WatchEvent, sentAt: Monotonic): void {
    if (event.kind === 'error') {
      throw new WatchEndedError(
        `the server ended the watch with ${event.status}: ${event.message}`,
        event.status,
        event.retryAfter,
      );
    }
    if (event.kind === 'change') {
      this.#options.target.changed(event.type, event.object);
      this.#progressed(event.object.metadata.resourceVersion);
    } else if (this.#position !== undefined) {
      this.#options.target.progressed(event.revision);
      this.#progressed(event.revision);
    } else if (event.isInitialEventsEnd) {
      this.#listEnded({ revision: event.revision, sentAt, by: 'streaming-list' });
    } else {
      throw new UnmarkedListError('the streaming list sent a bookmark without the mark', true);
    }
  }

  #progressed(revision: string): void {
    const before = this.#position;
    if (before === undefined) return;
    this.#position = newerRevision(before, revision);
    if (this.#position !== before) this.#retries.progressed();
    if (this.#retries.isFruitless || this.#problems.isTroubled) this.#worked();
  }

  #failed(error: unknown, isListing: boolean): void {
    const reason = isListing ? 'ListFailed' : 'WatchFailed';
    const verb = isListing ? 'list' : 'watch';
    // A type without changes has no bookmarks either where etcd reports no progress: silence alone is no trouble,
    // and if it is, the list that follows fails and says so.
    const isSilent = error instanceof WatchSilentError;
    const message = `Cannot ${verb} ${this.#subject()}: ${errorOf(error).message}`;
    if (isListing || !isSilent) {
      this.#problems.failed(reason, message, error);
      this.#options.target.failed(message);
    }
    if (this.#retries.failed(error)) this.#position = undefined;
  }

  #worked(): void {
    this.#retries.worked();
    if (!this.#problems.isTroubled) return;
    this.#problems.recovered(`The list and watch of ${this.#subject()} works again`);
  }

  async #pause(delay: Millis, signal: AbortSignal): Promise<void> {
    const owner = `retry of ${this.#subject()}`;
    const hurry = this.#hurry;
    const either = AbortSignal.any([signal, hurry.signal]);
    try {
      await this.#options.clock.sleep(delay, { signal: either, owner, background: this.#isAbsent });
    } catch (error) {
      if (!either.aborted) throw error;
    }
    if (hurry.signal.aborted) this.#hurry = new AbortController();
  }

  #subject(): string {
    return subjectOf(this.#options);
  }
}
