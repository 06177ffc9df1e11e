import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { millis, minutes, monotonic, seconds } from '#base/units.ts';
import type { Client } from '../client.ts';
import type { EventNote, EventRecorder } from './event-recorder.ts';
import { EventRefusals } from './event-refusals.ts';
import { type EventSeries, EventSeriesWriter, isUnsent } from './event-series.ts';

/** Settings of {@link createEventRecorder}. */
export interface EventRecorderOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Name of this instance, such as the pod's. */
  readonly instance: string;
  /** Called with the number of namespaces in which Events cannot be written, whenever that changes (D-1). */
  readonly onRefused?: (namespaces: number) => void;
  /** Counts notes that were never written. */
  readonly onDropped?: (notes: number) => void;
}

/**
 * A note within this time of the series' last one updates its Event instead of creating another. Longer than the
 * 10 min after which a hold is reported again, so that one hold is one Event, which grows younger.
 */
const SERIES_LASTS = minutes(15);
const PATCH_EVERY = seconds(10);
const MOST_SERIES = 1_000;

/** A recorder for those who may not write Events. */
export const silentRecorder: EventRecorder = Object.freeze({
  record: () => undefined,
  flush: () => Promise.resolve(),
});

/** Returns a recorder that writes through `client`, one Event at a time. See {@link EventRecorder}. */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  return new AggregatingRecorder(options);
}

class AggregatingRecorder implements EventRecorder {
  readonly #options: EventRecorderOptions;
  /** Keyed by subject and reason, least recently noted first. */
  readonly #series = new Map<string, EventSeries>();
  readonly #due = new Set<EventSeries>();
  readonly #idle: (() => void)[] = [];
  readonly #writer: EventSeriesWriter;
  readonly #refusals: EventRefusals;
  #isWorking = false;
  #isFlushing = false;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#writer = new EventSeriesWriter(options);
    this.#refusals = new EventRefusals(options.clock);
  }

  record(note: EventNote): void {
    if (this.#refusals.isRefused(note.about.namespace)) return;
    const key = `${note.about.uid}/${note.reason}`;
    const series = this.#current(key) ?? this.#begin(key, note);
    series.note = note;
    series.count += 1;
    series.last = this.#options.clock.now();
    series.lastNoted = this.#options.clock.monotonic();
    // The map keeps the order of insertion: what was noted longest ago goes first when room is needed.
    this.#series.delete(key);
    this.#series.set(key, series);
    this.#limit();
    this.#schedule(series);
  }

  async flush(): Promise<void> {
    this.#isFlushing = true;
    for (const series of this.#series.values()) if (isUnsent(series)) this.#makeDue(series);
    if (this.#isWorking) await new Promise<void>((resolve) => this.#idle.push(resolve));
    this.#isFlushing = false;
  }

  /** Returns the series that a note of `key` belongs to; one that has been silent too long is over. */
  #current(key: string): EventSeries | undefined {
    const known = this.#series.get(key);
    if (known === undefined || isUnsent(known)) return known;
    if (this.#options.clock.monotonic() - known.lastNoted < SERIES_LASTS) return known;
    this.#forget(known);
    return undefined;
  }

  #begin(key: string, note: EventNote): EventSeries {
    const { clock } = this.#options;
    return {
      key,
      name: this.#writer.nameFor(note),
      note,
      count: 0,
      sent: 0,
      first: clock.now(),
      last: clock.now(),
      lastNoted: clock.monotonic(),
      isCreated: false,
      mayExist: false,
      isWriting: false,
      writtenAt: monotonic(0),
      timer: undefined,
    };
  }

  #schedule(series: EventSeries): void {
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

  #makeDue(series: EventSeries): void {
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
      if (isUnsent(series)) await this.#write(series);
    }
    this.#isWorking = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #write(series: EventSeries): Promise<void> {
    series.isWriting = true;
    const error = await this.#writer.write(series);
    if (error !== undefined) this.#drop(series, error);
    else if (this.#refusals.accepted(series.note.about.namespace)) this.#reportRefused();
    series.isWriting = false;
    if (!isUnsent(series) || this.#series.get(series.key) !== series) return;
    if (this.#isFlushing) this.#due.add(series);
    else this.#schedule(series);
  }

  /** Gives a series up. A namespace that refuses Events is reported once and then left alone. */
  #drop(series: EventSeries, error: Error): void {
    const { logger, onDropped } = this.#options;
    const { about, reason, message } = series.note;
    const { namespace, name } = about;
    this.#forget(series);
    onDropped?.(1);
    const said = this.#refusals.failed(namespace, error);
    if (said === 'no refusal') {
      logger.warn('Event could not be written', { namespace, name, reason, message, error });
      return;
    }
    this.#dropAllIn(namespace);
    if (said === 'still refuses') return;
    logger.warn('Events cannot be written in this namespace', { namespace, error });
    this.#reportRefused();
  }

  #dropAllIn(namespace: string): void {
    for (const series of this.#series.values()) {
      if (series.note.about.namespace !== namespace) continue;
      this.#forget(series);
      if (isUnsent(series)) this.#options.onDropped?.(1);
    }
  }

  #reportRefused(): void {
    this.#options.onRefused?.(this.#refusals.count);
  }

  #limit(): void {
    if (this.#series.size <= MOST_SERIES) return;
    const [oldest] = this.#series.values();
    if (oldest === undefined) return;
    this.#forget(oldest);
    if (isUnsent(oldest) && !oldest.isWriting) this.#options.onDropped?.(1);
  }

  #forget(series: EventSeries): void {
    series.timer?.cancel();
    series.timer = undefined;
    this.#due.delete(series);
    if (this.#series.get(series.key) === series) this.#series.delete(series.key);
  }
}
