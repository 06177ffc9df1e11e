import type { Clock } from '#base/clock.ts';
import { type Millis, millis, seconds } from '#base/units.ts';
import { tooOldResourceVersion } from '../errors/status-errors.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { errorLine } from './error-line.ts';

/** A piece of a watch answer. */
export interface WatchLine {
  readonly bytes: Uint8Array;
  /** The same in pieces, where the whole would have to be put together. */
  readonly parts?: readonly Uint8Array[];
  /** The newest revision that the client knows of once it has this; 0 where it reports none. */
  readonly revision: number;
}

/** Live lines that may wait for one client before it is cut off, and for how long (LW-11). */
const MAXIMUM_WAITING = 1_000;
const MAXIMUM_BLOCKED = seconds(10);

/** What a session gets when it is opened. */
export interface WatchSessionOptions {
  readonly clock: Clock;
  readonly user: string;
  readonly client: string;
  /** `plural` or `plural.group`. */
  readonly resource: string;
  readonly namespace: string;
  /** Called once when the session is over, no matter who ended it. */
  readonly onClose: () => void;
}

/**
 * One open watch: lines that wait for one client, in order. The server pushes, a transport takes.
 *
 * Never trims: a client that does not keep up is cut off (LW-11). Faults hold, delay, cut or end it (FI-3).
 */
export class WatchSession {
  readonly options: WatchSessionOptions;
  /** Called when there is something to take, or the end was reached. */
  onReadable: () => void = () => undefined;
  /** Whether bookmarks are swallowed (FI-3 `noBookmarks`). */
  isWithoutBookmarks = false;
  /** Every line comes this much later (FI-3 `delay`). */
  delay: Millis = millis(0);
  /** Where set, lines are cut at random bytes (FI-3 `split`). */
  splitter: SeededRandom | undefined;
  #queue: WatchLine[] = [];
  #held: WatchLine[] = [];
  #state: 'open' | 'ended' | 'broken' = 'open';
  #isPaused = false;
  #toSkip = 0;
  #live = 0;
  #waitingSince: number | undefined;

  constructor(options: WatchSessionOptions) {
    this.options = options;
  }

  /** Returns its state; `ended`: cleanly; `broken`: the connection was reset. What is queued is still to be taken. */
  get state(): 'open' | 'ended' | 'broken' {
    return this.#state;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  get hasWaiting(): boolean {
    return this.#queue.length > 0;
  }

  /** Queues the state at the start of the watch; does not count as the client's slowness. */
  pushInitial(line: WatchLine): void {
    this.#queue.push(line);
    this.onReadable();
  }

  /** Queues one event. */
  push(line: WatchLine): void {
    if (this.#state !== 'open') return;
    if (this.#toSkip > 0) {
      this.#toSkip -= 1;
      return;
    }
    this.#pass(line);
  }

  /** Queues a bookmark behind all events so far. */
  pushBookmark(line: WatchLine): void {
    if (this.isWithoutBookmarks || this.#isPaused || this.#state !== 'open') return;
    this.#pass(line);
  }

  /** Returns the first `count` of what is queued, handed over. */
  take(count: number = this.#queue.length): readonly WatchLine[] {
    const taken = this.#queue.splice(0, count);
    this.#live = Math.min(this.#live, this.#queue.length);
    if (this.#live === 0) this.#waitingSince = undefined;
    return this.splitter === undefined ? taken : taken.flatMap((line) => this.#cut(line));
  }

  /** Holds everything from now on until {@link resume}. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    const held = this.#held;
    this.#held = [];
    for (const line of held) this.#enqueue(line);
  }

  /** Drops the next `count` events: violates the contract; follow it by {@link end} (FI-3 `skip`). */
  skip(count = 1): void {
    this.#toSkip += count;
  }

  /** Ends the answer cleanly. */
  end(): void {
    this.#finish('ended');
  }

  /** Resets the connection. */
  break(): void {
    this.#finish('broken');
  }

  /** Sends an ERROR event as `line`, then the end. */
  fail(line: Uint8Array): void {
    if (this.#state !== 'open') return;
    this.#queue.push({ bytes: line, revision: 0 });
    this.#finish('ended');
  }

  /** Sends a 410 as ERROR event, then the end (FI-3 `expire`). */
  expire(): void {
    this.fail(errorLine(tooOldResourceVersion(1, 2)));
  }

  /** Sends half a line, then the end (FI-3 `garbage`). */
  garbage(): void {
    this.fail(Buffer.from('{"type":"MODIFIED","object":{"kind":"Po'));
  }

  /** Closes it, as the client left. */
  close(): void {
    this.#queue = [];
    this.#held = [];
    this.#finish('ended');
  }

  #pass(line: WatchLine): void {
    if (this.delay === 0) {
      this.#deliver(line);
      return;
    }
    this.options.clock.timer(this.delay, () => this.#deliver(line), {
      owner: 'delayed watch event',
    });
  }

  #deliver(line: WatchLine): void {
    if (this.#isPaused) this.#held.push(line);
    else this.#enqueue(line);
  }

  #enqueue(line: WatchLine): void {
    if (this.#state !== 'open') return;
    const now = this.options.clock.monotonic();
    this.#waitingSince ??= now;
    this.#live += 1;
    if (this.#live > MAXIMUM_WAITING || now - this.#waitingSince > MAXIMUM_BLOCKED) {
      this.#queue = [];
      this.#finish('ended');
      return;
    }
    this.#queue.push(line);
    this.onReadable();
  }

  #finish(state: 'ended' | 'broken'): void {
    if (this.#state !== 'open') return;
    this.#state = state;
    this.options.onClose();
    this.onReadable();
  }

  #cut(line: WatchLine): readonly WatchLine[] {
    const { splitter } = this;
    const { bytes, revision } = line;
    if (splitter === undefined || bytes.length < 2) return [line];
    const at = 1 + splitter.below(bytes.length - 1);
    return [
      { bytes: bytes.subarray(0, at), revision: 0 },
      { bytes: bytes.subarray(at), revision },
    ];
  }
}
