import type { IncomingMessage } from 'node:http';

/** Longest body that is read, in bytes: two objects of up to 3 MiB each, and what is around them (D-29). */
export const maxBody = 8 * 1_024 * 1_024;

/** A body of more bytes than this is read into one piece of memory. */
const longBody = 256 * 1_024;

/** What became of a body. */
export type ReadBody =
  | { readonly kind: 'whole'; readonly body: Buffer }
  | { readonly kind: 'too-long' }
  /** Too many bytes of other requests are held already. */
  | { readonly kind: 'no-room' }
  /** The sender went away. */
  | { readonly kind: 'broken' };

/** Bytes of bodies that may be held at once, over all requests. */
export class BodyRoom {
  readonly #size: number;
  #held = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Bytes that are held. */
  get held(): number {
    return this.#held;
  }

  /** Whether `bytes` more were taken. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.#size) return false;
    this.#held += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }
}

/** Who reads a body. */
export interface BodyReader {
  /** Told once what became of it; what it needs of the body it takes before it returns. */
  readonly use: (read: ReadBody) => void;
  /** Told what `use` throws. */
  readonly failed: (error: unknown) => void;
}

/**
 * Reads a body to its end, or until it is too long; its bytes stand in `room` until the reader returns. By events
 * and without promises: these would be a tenth of what a review costs.
 */
export function readBody(request: IncomingMessage, room: BodyRoom, reader: BodyReader): void {
  const stated = Number(request.headers['content-length'] ?? 0);
  const reading = new Reading(room, reader, stated);
  if (stated > maxBody) {
    reading.settle({ kind: 'too-long' });
    return;
  }
  const onData = (chunk: Buffer): void => {
    const problem = reading.add(chunk);
    if (problem === undefined) return;
    request.off('data', onData).pause();
    reading.settle({ kind: problem });
  };
  const broken = (): void => reading.settle({ kind: 'broken' });
  request.on('data', onData);
  request.on('end', () => reading.ended());
  request.on('error', broken);
  request.on('close', broken);
}

class Reading {
  readonly #room: BodyRoom;
  readonly #reader: BodyReader;
  #chunks: Buffer[] = [];
  /** Takes the place of the chunks of a long body: else it would stand in memory twice when it is whole. */
  #long: Buffer | undefined;
  #length = 0;
  readonly #stated: number;
  #isSettled = false;

  constructor(room: BodyRoom, reader: BodyReader, stated: number) {
    this.#stated = stated;
    this.#room = room;
    this.#reader = reader;
  }

  add(chunk: Buffer): 'too-long' | 'no-room' | undefined {
    if (this.#length + chunk.length > maxBody) return 'too-long';
    if (!this.#room.take(chunk.length)) return 'no-room';
    if (this.#long === undefined && this.#length + chunk.length > longBody) this.#lengthen();
    this.#long?.set(chunk, this.#length);
    if (this.#long === undefined) this.#chunks.push(chunk);
    this.#length += chunk.length;
    return undefined;
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
    try {
      use(read);
    } catch (error) {
      failed(error);
    } finally {
      this.#release();
    }
  }

  /** Memory that nothing was written to yet costs nothing. */
  #lengthen(): void {
    const isStated = this.#stated > longBody && this.#stated <= maxBody;
    this.#long = Buffer.allocUnsafeSlow(isStated ? this.#stated : maxBody);
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
    this.#room.give(this.#length);
    this.#length = 0;
  }
}
