import { type Millis, millis } from '#base/units.ts';
import { TransportError } from '#kubernetes/transport/transport.ts';
import type { ServerContext } from '../rest/request/server-context.ts';
import type { WatchLine, WatchSession } from '../watch/watch-session.ts';

/** What a pipe is made of. */
export interface WatchPipeOptions {
  readonly session: WatchSession;
  readonly context: ServerContext;
  readonly client: string;
  /** How long the next lines travel. */
  readonly delayOf: () => Millis;
  /** Called once when nothing more will come out. */
  readonly onEnd: () => void;
}

/** A reader that waits for its next chunk. */
interface Waiting {
  resolve(result: IteratorResult<Uint8Array>): void;
  reject(error: Error): void;
}

const DONE: IteratorResult<Uint8Array> = Object.freeze({ done: true, value: undefined });

/**
 * Carries the lines of one watch to one in-process reader.
 *
 * Counts as activity from when there is something to read until the reader asks for the next chunk and there is
 * none (CK-3): so virtual time stands still while a client works on an event.
 */
export class WatchPipe implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array> {
  readonly #options: WatchPipeOptions;
  readonly #owner: string;
  #lines: WatchLine[] = [];
  #travelling = 0;
  #arrivesLast = 0;
  #waiting: Waiting | undefined;
  #isOwed = false;
  #isOver = false;
  #isSilent = false;
  #error: TransportError | undefined;

  constructor(options: WatchPipeOptions) {
    this.#options = options;
    this.#owner = `watch of ${options.session.options.resource} by ${options.client}`;
    options.session.onReadable = () => this.#receive();
    this.#receive();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    return new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#serve();
    });
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#finish();
    return Promise.resolve(DONE);
  }

  /** Breaks the connection. */
  break(message: string): void {
    this.fail(new TransportError(message, 'connection'));
  }

  /** Gives the reader `error`, now or when it asks next; what was under way to it is lost. */
  fail(error: TransportError): void {
    if (this.#isOver) return;
    this.#error = error;
    this.#lines = [];
    this.#serve();
    if (!this.#isOver) this.#finishServing();
  }

  /** Silences it: the reader hears nothing any more, for ever (D-43). */
  silence(): void {
    this.#isSilent = true;
    this.#waiting = undefined;
    this.#finish();
  }

  #receive(): void {
    if (this.#isOver) return;
    const lines = this.#options.session.take();
    if (lines.length > 0) this.#travel(lines);
    else this.#serve();
  }

  #travel(lines: readonly WatchLine[]): void {
    const { context, delayOf } = this.#options;
    const now = context.clock.monotonic();
    const arrives = Math.max(now + delayOf(), this.#arrivesLast);
    if (arrives <= now) {
      this.#arrive(lines);
      return;
    }
    this.#arrivesLast = arrives;
    this.#travelling += 1;
    const arrive = (): void => {
      this.#travelling -= 1;
      if (!this.#isOver && this.#error === undefined) this.#arrive(lines);
    };
    context.clock.timer(millis(arrives - now), arrive, { owner: 'watch delivery' });
  }

  #arrive(lines: readonly WatchLine[]): void {
    for (const line of lines) this.#lines.push(line);
    if (!this.#isOwed) {
      this.#isOwed = true;
      this.#options.context.activity.begin(this.#owner);
    }
    this.#serve();
  }

  /** Gives the waiting reader what there is: lines, an error, or the end. */
  #serve(): void {
    const waiting = this.#waiting;
    if (waiting === undefined || this.#isSilent) return;
    const result = this.#result();
    if (result === undefined) {
      this.#finishServing();
      return;
    }
    this.#waiting = undefined;
    if (result instanceof TransportError) {
      this.#error = undefined;
      this.#finish();
      waiting.reject(result);
      return;
    }
    if (result.done === true) this.#finish();
    waiting.resolve(result);
  }

  #result(): IteratorResult<Uint8Array> | TransportError | undefined {
    if (this.#error !== undefined) return this.#error;
    if (this.#lines.length > 0) return { done: false, value: this.#nextChunk() };
    if (this.#isOver) return DONE;
    const { session } = this.#options;
    if (session.state === 'open' || this.#travelling > 0) return undefined;
    if (session.state === 'ended') return DONE;
    return new TransportError('the connection of the watch was reset', 'connection');
  }

  #nextChunk(): Uint8Array {
    const { session } = this.#options;
    const count = session.splitter === undefined ? this.#lines.length : 1;
    const lines = this.#lines.splice(0, count);
    this.#recordDelivery(lines);
    const [only] = lines;
    if (lines.length === 1 && only !== undefined) return only.bytes;
    return Buffer.concat(lines.map(({ bytes }) => bytes));
  }

  #recordDelivery(lines: readonly WatchLine[]): void {
    const { session, context, client } = this.#options;
    // An ERROR event, which reports no revision, may be behind others.
    const revision = Math.max(0, ...lines.map((line) => line.revision));
    if (revision <= 0) return;
    const { resource } = session.options;
    context.eventLog.delivered({ at: context.clock.now(), client, resource, revision });
  }

  /** Ends the serving, as the reader has everything there is. */
  #finishServing(): void {
    if (!this.#isOwed) return;
    this.#isOwed = false;
    this.#options.context.activity.end(this.#owner);
  }

  #finish(): void {
    this.#finishServing();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#lines = [];
    this.#options.session.close();
    this.#options.onEnd();
  }
}
