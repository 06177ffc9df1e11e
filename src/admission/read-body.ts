import type { IncomingMessage } from 'node:http';

/** Longest body that is read, in bytes: two objects of up to 3 MiB each, and what is around them (D-29). */
export const maxBody = 8 * 1_024 * 1_024;

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

/** Reads a body to its end, or until it is too long; its bytes stand in `room` until `use` is done with it. */
export async function withBody<T>(
  request: IncomingMessage,
  room: BodyRoom,
  use: (read: ReadBody) => T | Promise<T>,
): Promise<T> {
  const reading = new Reading(request, room);
  try {
    return await use(await reading.done);
  } finally {
    reading.release();
  }
}

class Reading {
  readonly done: Promise<ReadBody>;
  readonly #room: BodyRoom;
  readonly #chunks: Buffer[] = [];
  #length = 0;

  constructor(request: IncomingMessage, room: BodyRoom) {
    this.#room = room;
    const { promise, resolve } = Promise.withResolvers<ReadBody>();
    this.done = promise;
    const stated = Number(request.headers['content-length'] ?? 0);
    if (stated > maxBody) {
      resolve({ kind: 'too-long' });
      return;
    }
    const onData = (chunk: Buffer): void => {
      const problem = this.#add(chunk);
      if (problem === undefined) return;
      request.off('data', onData).pause();
      resolve({ kind: problem });
    };
    request.on('data', onData);
    request.once('end', () => resolve({ kind: 'whole', body: this.#body() }));
    request.once('error', () => resolve({ kind: 'broken' }));
    request.once('close', () => resolve({ kind: 'broken' }));
  }

  release(): void {
    this.#room.give(this.#length);
    this.#length = 0;
  }

  #add(chunk: Buffer): 'too-long' | 'no-room' | undefined {
    if (this.#length + chunk.length > maxBody) return 'too-long';
    if (!this.#room.take(chunk.length)) return 'no-room';
    this.#length += chunk.length;
    this.#chunks.push(chunk);
    return undefined;
  }

  #body(): Buffer {
    const [only] = this.#chunks;
    return this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks);
  }
}
