import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventNote, EventRecorder } from '#kubernetes/events/event-recorder.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { timestamp } from '../clock/timestamp.ts';

/** What an {@link EventWriter} is made of. */
export interface EventWriterOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Who speaks, such as `statefulset-controller`. */
  readonly component: string;
}

/** Drops every note. */
export const silentRecorder: EventRecorder = Object.freeze({
  record: () => undefined,
  flush: () => Promise.resolve(),
});

interface Series {
  readonly name: string;
  count: number;
}

const mostSeries = 4_096;
const mostWaiting = 20_000;

/**
 * Writes the Events of a cluster's own controllers, in order and in the background; the same note again counts up
 * its Event. It is distinguished from the operator's recorder by its component and by having no retry: an Event that
 * is refused is one log line.
 */
export class EventWriter implements EventRecorder {
  readonly #options: EventWriterOptions;
  readonly #series = new Map<string, Series>();
  readonly #waiting: EventNote[] = [];
  #written = 0;
  #dropped = 0;
  #writing: Promise<void> | undefined;

  constructor(options: EventWriterOptions) {
    this.#options = options;
  }

  record(note: EventNote): void {
    if (this.#waiting.length >= mostWaiting) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(note);
    this.#writing ??= this.#writeAll();
  }

  async flush(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    for (let note = this.#waiting.shift(); note !== undefined; note = this.#waiting.shift()) {
      try {
        await this.#write(note);
      } catch (error) {
        this.#options.log.warn('event not written', {
          reason: note.reason,
          error: errorOf(error),
        });
      }
    }
    this.#writing = undefined;
    if (this.#dropped === 0) return;
    this.#options.log.warn('events dropped as too many waited', { events: this.#dropped });
    this.#dropped = 0;
  }

  async #write(note: EventNote): Promise<void> {
    const key = `${note.about.uid}/${note.reason}/${note.message}`;
    const series = this.#series.get(key);
    if (series === undefined) {
      const name = await this.#create(note);
      if (this.#series.size >= mostSeries) this.#series.clear();
      this.#series.set(key, { name, count: 1 });
      return;
    }
    series.count += 1;
    const lastTimestamp = timestamp(this.#options.clock.now());
    const document = { count: series.count, lastTimestamp };
    const object = { namespace: note.about.namespace, name: series.name };
    await this.#options.client.patch(resourceTypes.events, object, {
      body: { kind: 'merge', document },
    });
  }

  async #create({ about, type, reason, message }: EventNote): Promise<string> {
    const { client, clock, component } = this.#options;
    this.#written += 1;
    const now = clock.now();
    const name = `${about.name}.${Math.floor(now).toString(16)}.${this.#written.toString(16)}`;
    const { namespace } = about;
    const at = timestamp(now);
    const body = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      involvedObject: { ...about },
      reason,
      message,
      type,
      count: 1,
      firstTimestamp: at,
      lastTimestamp: at,
      source: { component },
      reportingComponent: component,
    };
    await client.create(resourceTypes.events, { namespace, name }, { body });
    return name;
  }
}
