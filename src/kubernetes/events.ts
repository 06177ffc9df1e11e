import type { Clock, Timer } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { JsonObject } from '#base/json.ts';
import type { Logger } from '#base/logger.ts';
import {
  type Instant,
  type Millis,
  type Monotonic,
  millis,
  minutes,
  monotonic,
  seconds,
} from '#base/units.ts';
import {
  ApiError,
  isAlreadyExists,
  isForbidden,
  isNotFound,
  isOutcomeUnknown,
} from './api-error.ts';
import type { Client } from './client.ts';
import type { EventNote, EventRecorder } from './event-recorder.ts';
import { resourceTypes } from './resource-type.ts';

/** Settings of {@link createEventRecorder}. */
export interface EventRecorderOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Name of this instance, such as the pod's. */
  readonly instance: string;
  /** Told in how many namespaces Events cannot be written, whenever that changes (D-1). */
  readonly onRefused?: (namespaces: number) => void;
  /** Counts notes that were never written. */
  readonly onDropped?: (notes: number) => void;
}

/** Product name in `reportingComponent` and `source.component`. */
const COMPONENT = 'rollout-operator';
/** A note within this time of the series' last one updates its Event instead of creating another. */
const SERIES_LASTS = minutes(10);
const PATCH_EVERY = seconds(10);
const MOST_SERIES = 1_000;
const BACKOFFS: readonly Millis[] = [seconds(1), seconds(5)];
const LONGEST_BACKOFF = seconds(30);
const WRITE_TIMEOUT = seconds(30);
/** A namespace that did not exist is tried again after this time; it may have been made. */
const MISSING_LASTS = minutes(10);
/**
 * A namespace that forbade Events is tried once more after this time: until its RBAC caches are filled, an API server
 * that has just started forbids what it will allow.
 */
const FORBIDDEN_LASTS = minutes(1);
/** The API server refuses longer messages. */
const LONGEST_MESSAGE = 1_024;

/** All notes of one subject and reason that share one Event. */
interface Series {
  readonly key: string;
  name: string;
  note: EventNote;
  count: number;
  readonly first: Instant;
  last: Instant;
  lastNoted: Monotonic;
  isCreated: boolean;
  /** A create was sent whose outcome is not known. */
  mayExist: boolean;
  /** Something was noted that the server does not have yet. */
  isDirty: boolean;
  isWriting: boolean;
  writtenAt: Monotonic;
  timer: Timer | undefined;
}

/** A recorder that writes through `client`, one Event at a time. See {@link EventRecorder}. */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  return new AggregatingRecorder(options);
}

class AggregatingRecorder implements EventRecorder {
  readonly #options: EventRecorderOptions;
  /** By subject and reason, least recently noted first. */
  readonly #series = new Map<string, Series>();
  readonly #due = new Set<Series>();
  readonly #idle: (() => void)[] = [];
  /** Namespaces that refuse Events, and until when that is believed. */
  readonly #refused = new Map<string, number>();
  /** Namespaces that have forbidden Events and not taken one since. */
  readonly #forbade = new Set<string>();
  #isWorking = false;
  #isFlushing = false;
  #serial = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  record(note: EventNote): void {
    if (this.#isRefused(note.about.namespace)) return;
    const key = `${note.about.uid}/${note.reason}`;
    const series = this.#current(key) ?? this.#begin(key, note);
    series.note = note;
    series.count += 1;
    series.last = this.#options.clock.now();
    series.lastNoted = this.#options.clock.monotonic();
    series.isDirty = true;
    // The map keeps the order of insertion: whoever was noted longest ago goes first when room is needed.
    this.#series.delete(key);
    this.#series.set(key, series);
    this.#limit();
    this.#schedule(series);
  }

  async flush(): Promise<void> {
    this.#isFlushing = true;
    for (const series of this.#series.values()) if (series.isDirty) this.#makeDue(series);
    if (this.#isWorking) await new Promise<void>((resolve) => this.#idle.push(resolve));
    this.#isFlushing = false;
  }

  /** The series that a note of `key` belongs to; one that has been silent too long is over. */
  #current(key: string): Series | undefined {
    const known = this.#series.get(key);
    if (known === undefined || known.isDirty) return known;
    if (this.#options.clock.monotonic() - known.lastNoted < SERIES_LASTS) return known;
    this.#forget(known);
    return undefined;
  }

  #begin(key: string, note: EventNote): Series {
    const { clock } = this.#options;
    return {
      key,
      name: this.#nameFor(note),
      note,
      count: 0,
      first: clock.now(),
      last: clock.now(),
      lastNoted: clock.monotonic(),
      isCreated: false,
      mayExist: false,
      isDirty: false,
      isWriting: false,
      writtenAt: monotonic(0),
      timer: undefined,
    };
  }

  /** The serial number makes names of one process differ, the time those of its restarts. */
  #nameFor(note: EventNote): string {
    this.#serial += 1;
    const time = Math.floor(this.#options.clock.now()).toString(16);
    return `${note.about.name.slice(0, 230)}.${time}${this.#serial.toString(16).padStart(4, '0')}`;
  }

  #schedule(series: Series): void {
    if (series.isWriting || series.timer !== undefined || this.#due.has(series)) return;
    const { clock } = this.#options;
    const wait = series.isCreated ? PATCH_EVERY - (clock.monotonic() - series.writtenAt) : 0;
    if (wait <= 0) {
      this.#makeDue(series);
      return;
    }
    series.timer = clock.timer(millis(wait), () => this.#makeDue(series), {
      owner: 'event recorder',
      background: true,
    });
  }

  #makeDue(series: Series): void {
    series.timer?.cancel();
    series.timer = undefined;
    this.#due.add(series);
    void this.#work();
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    for (const series of this.#due) {
      this.#due.delete(series);
      if (series.isDirty) await this.#write(series);
    }
    this.#isWorking = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Writes with two repetitions, then gives the series up; never throws. */
  async #write(series: Series): Promise<void> {
    series.isWriting = true;
    for (const backoff of [...BACKOFFS, undefined]) {
      const error = await this.#attempt(series);
      if (error === undefined) break;
      if (backoff === undefined || isHopeless(error)) {
        this.#drop(series, error);
        break;
      }
      this.#adapt(series, error);
      await this.#options.clock.sleep(waitAfter(error, backoff), {
        owner: 'event recorder',
        background: true,
      });
    }
    series.isWriting = false;
    if (!series.isDirty || this.#series.get(series.key) !== series) return;
    if (this.#isFlushing) this.#due.add(series);
    else this.#schedule(series);
  }

  async #attempt(series: Series): Promise<Error | undefined> {
    try {
      const sent = series.count;
      await (series.isCreated ? this.#patch(series) : this.#create(series));
      series.isCreated = true;
      series.writtenAt = this.#options.clock.monotonic();
      series.isDirty = series.count > sent;
      this.#forbade.delete(series.note.about.namespace);
      if (this.#refused.delete(series.note.about.namespace)) this.#reportRefused();
      return undefined;
    } catch (error) {
      const seen = errorOf(error);
      // An Event lives an hour at the server; one that is gone is written anew.
      return series.isCreated || !isNotFound(seen) ? seen : new MissingNamespace(seen);
    }
  }

  async #create(series: Series): Promise<void> {
    const { namespace } = series.note.about;
    const write = { body: this.#eventOf(series), timeout: WRITE_TIMEOUT };
    await this.#options.client.create(resourceTypes.events, { namespace }, write);
  }

  async #patch(series: Series): Promise<void> {
    const { name, note, count } = series;
    const document = { count, message: messageOf(series), lastTimestamp: text(series.last) };
    const body = { kind: 'merge', document } as const;
    const key = { namespace: note.about.namespace, name };
    await this.#options.client.patch(resourceTypes.events, key, { body, timeout: WRITE_TIMEOUT });
  }

  /** What `error` teaches about the Event, before the next attempt. */
  #adapt(series: Series, error: Error): void {
    if (isNotFound(error)) series.isCreated = false;
    if (isAlreadyExists(error)) {
      if (series.mayExist) series.isCreated = true;
      else series.name = this.#nameFor(series.note);
    }
    if (!series.isCreated && isOutcomeUnknown(error)) series.mayExist = true;
  }

  #eventOf(series: Series): JsonObject {
    const { about, type, reason } = series.note;
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: series.name, namespace: about.namespace },
      involvedObject: { ...about },
      type,
      reason,
      message: messageOf(series),
      count: series.count,
      firstTimestamp: text(series.first),
      lastTimestamp: text(series.last),
      source: { component: COMPONENT },
      reportingComponent: COMPONENT,
      reportingInstance: this.#options.instance,
    };
  }

  #isRefused(namespace: string): boolean {
    const until = this.#refused.get(namespace);
    return until !== undefined && this.#options.clock.monotonic() < until;
  }

  #reportRefused(): void {
    this.#options.onRefused?.(this.#refused.size);
  }

  /** Gives a series up. A namespace that refuses Events is told once and then left alone. */
  #drop(series: Series, error: Error): void {
    const { clock, logger, onDropped } = this.#options;
    const { about, reason, message } = series.note;
    const { namespace, name } = about;
    this.#forget(series);
    onDropped?.(1);
    if (isForbidden(error) && !isTerminating(error)) {
      const lasts = this.#forbade.has(namespace) ? Number.POSITIVE_INFINITY : FORBIDDEN_LASTS;
      this.#forbade.add(namespace);
      this.#refuse(namespace, clock.monotonic() + lasts, error);
    } else if (error instanceof MissingNamespace) {
      this.#refuse(namespace, clock.monotonic() + MISSING_LASTS, error);
    } else {
      logger.warn('Event could not be written', { namespace, name, reason, message, error });
    }
  }

  #refuse(namespace: string, until: number, error: Error): void {
    const { logger, onDropped } = this.#options;
    const isNews = !this.#refused.has(namespace);
    this.#refused.set(namespace, until);
    for (const series of this.#series.values()) {
      if (series.note.about.namespace !== namespace) continue;
      this.#forget(series);
      if (series.isDirty) onDropped?.(1);
    }
    if (!isNews) return;
    logger.warn('Events cannot be written in this namespace', { namespace, error });
    this.#reportRefused();
  }

  #limit(): void {
    if (this.#series.size <= MOST_SERIES) return;
    const [oldest] = this.#series.values();
    if (oldest === undefined) return;
    this.#forget(oldest);
    if (oldest.isDirty && !oldest.isWriting) this.#options.onDropped?.(1);
  }

  #forget(series: Series): void {
    series.timer?.cancel();
    series.timer = undefined;
    this.#due.delete(series);
    if (this.#series.get(series.key) === series) this.#series.delete(series.key);
  }
}

/** A create was answered 404: what is missing is the namespace. */
class MissingNamespace extends Error {
  override readonly name = 'MissingNamespace';

  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

/** Whether the same write would get the same answer again. */
function isHopeless(error: Error): boolean {
  if (error instanceof MissingNamespace || isForbidden(error)) return true;
  return error instanceof ApiError && error.retry === 'never';
}

function waitAfter(error: Error, backoff: Millis): Millis {
  const asked = error instanceof ApiError ? (error.retryAfter ?? 0) : 0;
  return millis(Math.max(backoff, Math.min(asked, LONGEST_BACKOFF)));
}

/** A namespace that is being deleted accepts no new Event: that passes. */
function isTerminating(error: ApiError): boolean {
  return JSON.stringify(error.details['causes'] ?? []).includes('NamespaceTerminating');
}

function messageOf(series: Series): string {
  const { message } = series.note;
  return message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE - 1)}…` : message;
}

/** RFC 3339 in whole seconds, as the API server keeps these timestamps. */
function text(at: Instant): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}
