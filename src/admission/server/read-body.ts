import type { IncomingMessage } from 'node:http';
import type { Clock } from '#base/clock.ts';
import { type Monotonic, seconds } from '#base/units.ts';

/** Longest body that is read, in bytes: two objects of up to 3 MiB each, and what is around them (D-29). */
export const maxBody = 8 * 1_024 * 1_024;

/** A body of more bytes than this is read into one piece of memory. */
const longBody = 256 * 1_024;

/** The part of the room that long bodies leave to others: reviews of usual size find room next to any of them. */
const shortShare = 1 / 4;

/** A body that brings less than so many bytes in so much time is slow. An API server has it at hand and sends it at once. */
const slowBytes = 64 * 1_024;
const slowTime = seconds(1);

/** What became of a body. */
export type ReadBody =
  | { readonly kind: 'whole'; readonly body: Buffer }
  | { readonly kind: 'too-long' }
  /** Too many bytes of other requests are held already. */
  | { readonly kind: 'no-room' }
  /** Its room was needed, and it hardly came any more. */
  | { readonly kind: 'too-slow' }
  /** The sender went away. */
  | { readonly kind: 'broken' };

/** A body that is being read, as far as the room is concerned. */
interface HeldBody {
  isSlow(now: Monotonic): boolean;
  /** Gives back what it holds. */
  drop(): void;
}

/**
 * Bytes of bodies that may be held at once, over all requests. Where they are short, slow bodies make room: who holds
 * bytes and sends no more keeps no client out for long, and who is slow for a reason is only cut off while others need it.
 */
export class BodyRoom {
  readonly #size: number;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #bodies = new Set<HeldBody>();
  #held = 0;

  constructor(size: number, clock: Pick<Clock, 'monotonic'>) {
    this.#size = size;
    this.#clock = clock;
  }

  /** Returns how many bytes are held. */
  get held(): number {
    return this.#held;
  }

  now(): Monotonic {
    return this.#clock.monotonic();
  }

  add(body: HeldBody): void {
    this.#bodies.add(body);
  }

  remove(body: HeldBody): void {
    this.#bodies.delete(body);
  }

  /** Takes `bytes` more for `body`, of which `length` are to be held then. @returns whether there was room */
  take(bytes: number, length: number, body: HeldBody): boolean {
    const most = length > longBody ? this.#size * (1 - shortShare) : this.#size;
    if (this.#held + bytes > most) this.#dropSlow(most - bytes, body);
    if (this.#held + bytes > most) return false;
    this.#held += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }

  /** Drops slow bodies, the oldest first, until `most` bytes are held or none is left. */
  #dropSlow(most: number, except: HeldBody): void {
    const now = this.now();
    for (const body of this.#bodies) {
      if (this.#held <= most) return;
      if (body !== except && body.isSlow(now)) body.drop();
    }
  }
}

/** Who reads a body. */
export interface BodyReader {
  /** Called once with what became of it; what it needs of the body it takes before it returns. */
  readonly use: (read: ReadBody) => void;
  /** Called with what `use` throws. */
  readonly failed: (error: unknown) => void;
}

/**
 * Reads a body to its end, or until it is too long; its bytes stay in `room` until the reader returns. By events
 * and without promises: these would be a tenth of what a review costs.
 */
export function readBody(request: IncomingMessage, room: BodyRoom, reader: BodyReader): void {
  const reading = new Reading(request, room, reader);
  if (reading.stated > maxBody) {
    reading.settle({ kind: 'too-long' });
    return;
  }
  const broken = (): void => reading.settle({ kind: 'broken' });
  request.on('data', (chunk: Buffer) => reading.add(chunk));
  request.on('end', () => reading.ended());
  request.on('error', broken);
  request.on('close', broken);
}

class Reading implements HeldBody {
  /** The length that the request states; not a number where that is none. */
  readonly stated: number;
  readonly #request: IncomingMessage;
  readonly #room: BodyRoom;
  readonly #reader: BodyReader;
  #chunks: Buffer[] = [];
  /** Takes the place of the chunks of a long body: else it would be in memory twice when it is whole. */
  #long: Buffer | undefined;
  #length = 0;
  /** When the last {@link slowBytes} had come, or it began; and how long it was then. */
  #paceAt: Monotonic;
  #paceLength = 0;
  #isSettled = false;

  constructor(request: IncomingMessage, room: BodyRoom, reader: BodyReader) {
    this.stated = Number(request.headers['content-length'] ?? 0);
    this.#request = request;
    this.#room = room;
    this.#reader = reader;
    this.#paceAt = room.now();
    room.add(this);
  }

  isSlow(now: Monotonic): boolean {
    return now - this.#paceAt >= slowTime;
  }

  drop(): void {
    this.settle({ kind: 'too-slow' });
  }

  add(chunk: Buffer): void {
    // Pieces of what was given up may be on their way.
    if (this.#isSettled) return;
    const length = this.#length + chunk.length;
    if (length > maxBody) this.settle({ kind: 'too-long' });
    else if (this.#room.take(chunk.length, length, this)) this.#append(chunk, length);
    else this.settle({ kind: 'no-room' });
  }

  #append(chunk: Buffer, length: number): void {
    if (this.#long === undefined && length > longBody) this.#lengthen();
    this.#long?.set(chunk, this.#length);
    if (this.#long === undefined) this.#chunks.push(chunk);
    this.#length = length;
    if (length - this.#paceLength < slowBytes) return;
    this.#paceAt = this.#room.now();
    this.#paceLength = length;
  }

  ended(): void {
    if (!this.#isSettled) this.settle({ kind: 'whole', body: this.#body() });
  }

  /** Tells the reader, the first time only. */
  settle(read: ReadBody): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#chunks = [];
    this.#long = undefined;
    const { use, failed } = this.#reader;
    if (read.kind !== 'whole') this.#request.pause();
    try {
      use(read);
    } catch (error) {
      failed(error);
    } finally {
      this.#release();
    }
  }

  /** Lengthens what holds the body: memory that nothing was written to yet costs nothing. */
  #lengthen(): void {
    const isStated = this.stated > longBody && this.stated <= maxBody;
    this.#long = Buffer.allocUnsafeSlow(isStated ? this.stated : maxBody);
    let at = 0;
    for (const chunk of this.#chunks) {
      this.#long.set(chunk, at);
      at += chunk.length;
    }
    this.#chunks = [];
  }

  #body(): Buffer {
    if (this.#long !== undefined) return this.#long.subarray(0, this.#length);
    const [only] = this.#chunks;
    return this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks);
  }

  #release(): void {
    this.#room.remove(this);
    this.#room.give(this.#length);
    this.#length = 0;
  }
}
