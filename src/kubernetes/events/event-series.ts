import type { Clock, Timer } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { JsonObject } from '#base/json.ts';
import { visible } from '#base/text/visible.ts';
import { type Instant, type Millis, type Monotonic, millis, seconds } from '#base/units.ts';
import type { Client } from '../client.ts';
import { resourceTypes } from '../resource-type.ts';
import {
  ApiError,
  isAlreadyExists,
  isForbidden,
  isNotFound,
  isOutcomeUnknown,
} from '../transport/api-error.ts';
import type { EventNote } from './event-recorder.ts';

/** All notes of one subject and reason that share one Event. */
export interface EventSeries {
  readonly key: string;
  name: string;
  note: EventNote;
  count: number;
  /** The count that the server has. */
  sent: number;
  readonly first: Instant;
  last: Instant;
  lastNoted: Monotonic;
  isCreated: boolean;
  /** A create was sent whose outcome is not known. */
  mayExist: boolean;
  isWriting: boolean;
  writtenAt: Monotonic;
  timer: Timer | undefined;
}

/** Reports whether something was noted that the server does not have yet. */
export function isUnsent({ count, sent }: EventSeries): boolean {
  return count > sent;
}

/** What {@link EventSeriesWriter} works with. */
export interface EventSeriesWriterOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Name of this instance, such as the pod's. */
  readonly instance: string;
}

/** Product name in `reportingComponent` and `source.component`. */
const COMPONENT = 'rollout-operator';
const BACKOFFS: readonly Millis[] = [seconds(1), seconds(5)];
const LONGEST_BACKOFF = seconds(30);
const WRITE_TIMEOUT = seconds(30);
/** The API server refuses longer messages. */
const LONGEST_MESSAGE = 1_024;

/** Brings the Event of a series to what the series says: creates it, or patches the one that is there. */
export class EventSeriesWriter {
  readonly #options: EventSeriesWriterOptions;
  #serial = 0;

  constructor(options: EventSeriesWriterOptions) {
    this.#options = options;
  }

  /**
   * Returns a name for the Event of a series. The serial number makes names of one process differ, the time those of its
   * restarts.
   */
  nameFor(note: EventNote): string {
    this.#serial += 1;
    const time = Math.floor(this.#options.clock.now()).toString(16);
    return `${note.about.name.slice(0, 230)}.${time}${this.#serial.toString(16).padStart(4, '0')}`;
  }

  /** Writes with two repetitions; never throws. @returns why it was given up; undefined when it is written */
  async write(series: EventSeries): Promise<Error | undefined> {
    for (const backoff of BACKOFFS) {
      const error = await this.#attempt(series);
      if (error === undefined || isHopeless(error)) return error;
      this.#adapt(series, error);
      await this.#options.clock.sleep(waitAfter(error, backoff), {
        owner: 'event recorder',
        background: true,
      });
    }
    return this.#attempt(series);
  }

  async #attempt(series: EventSeries): Promise<Error | undefined> {
    try {
      const sent = series.count;
      await (series.isCreated ? this.#patch(series) : this.#create(series));
      series.isCreated = true;
      series.writtenAt = this.#options.clock.monotonic();
      series.sent = sent;
      return undefined;
    } catch (error) {
      const seen = errorOf(error);
      // An Event lives an hour at the server; one that is gone is written again.
      return series.isCreated || !isNotFound(seen) ? seen : new MissingNamespace(seen);
    }
  }

  async #create(series: EventSeries): Promise<void> {
    const { namespace } = series.note.about;
    const write = { body: this.#eventOf(series), timeout: WRITE_TIMEOUT };
    await this.#options.client.create(resourceTypes.events, { namespace }, write);
  }

  async #patch(series: EventSeries): Promise<void> {
    const { name, note, count } = series;
    const document = { count, message: messageOf(series), lastTimestamp: text(series.last) };
    const body = { kind: 'merge', document } as const;
    const key = { namespace: note.about.namespace, name };
    await this.#options.client.patch(resourceTypes.events, key, { body, timeout: WRITE_TIMEOUT });
  }

  /** Takes in what `error` teaches about the Event, before the next attempt. */
  #adapt(series: EventSeries, error: Error): void {
    if (isNotFound(error)) series.isCreated = false;
    if (isAlreadyExists(error)) {
      if (series.mayExist) series.isCreated = true;
      else series.name = this.nameFor(series.note);
    }
    if (!series.isCreated && isOutcomeUnknown(error)) series.mayExist = true;
  }

  #eventOf(series: EventSeries): JsonObject {
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
}

/** A create was answered 404: what is missing is the namespace. */
export class MissingNamespace extends Error {
  override readonly name = 'MissingNamespace';

  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

/** Reports whether the same write would get the same answer again. */
function isHopeless(error: Error): boolean {
  if (error instanceof MissingNamespace || isForbidden(error)) return true;
  return error instanceof ApiError && error.retry === 'never';
}

function waitAfter(error: Error, backoff: Millis): Millis {
  const asked = error instanceof ApiError ? (error.retryAfter ?? 0) : 0;
  return millis(Math.max(backoff, Math.min(asked, LONGEST_BACKOFF)));
}

function messageOf(series: EventSeries): string {
  const message = visible(series.note.message);
  return message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE - 1)}…` : message;
}

/** Returns RFC 3339 text in whole seconds, as the API server keeps these timestamps. */
function text(at: Instant): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}
