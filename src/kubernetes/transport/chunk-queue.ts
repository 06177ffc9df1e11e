import type { TransportError } from './transport.ts';

/** What a {@link ChunkQueue} asks of the connection that fills it. */
export interface ChunkSource {
  pause(): void;
  resume(): void;
  /** Ends the reading: nothing more is read, and the connection may be destroyed. */
  cancel(): void;
}

const HIGH_WATER_BYTES = 65_536;

/**
 * The bytes between a connection that pushes and one reader that pulls.
 *
 * Pauses the source above 64 KiB and resumes it once all was read, so a slow reader slows the server down
 * (D-43) and never more than one read of the socket is held beyond that mark.
 */
export class ChunkQueue implements AsyncIterable<Uint8Array> {
  readonly #source: ChunkSource;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #isPaused = false;
  #hasEnded = false;
  #error: TransportError | undefined;
  #wake: (() => void) | undefined;

  constructor(source: ChunkSource) {
    this.#source = source;
  }

  /** Adds what arrived. */
  push(chunk: Uint8Array): void {
    if (this.#hasEnded) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    if (this.#bytes > HIGH_WATER_BYTES && !this.#isPaused) {
      this.#isPaused = true;
      this.#source.pause();
    }
    this.#notify();
  }

  /** Notes that the answer is complete; the reader gets what is held, then the end. */
  end(): void {
    this.#hasEnded = true;
    this.#notify();
  }

  /** Notes that the connection broke; the reader gets what is held, then `error`. Only the first end or failure counts. */
  fail(error: TransportError): void {
    if (!this.#hasEnded) this.#error ??= error;
    this.#notify();
  }

  /** For one reader. Its `return` cancels the source even when nothing was read yet. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    return { next: () => this.#next(), return: () => this.#leave() };
  }

  async #next(): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#bytes -= chunk.byteLength;
        return { done: false, value: chunk };
      }
      if (this.#error !== undefined) throw this.#error;
      if (this.#hasEnded) return { done: true, value: undefined };
      await this.#arrival();
    }
  }

  async #leave(): Promise<IteratorReturnResult<undefined>> {
    this.#chunks = [];
    this.end();
    this.#source.cancel();
    return { done: true, value: undefined };
  }

  async #arrival(): Promise<void> {
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#source.resume();
    }
    // Resuming may have delivered already.
    if (this.#chunks.length > 0 || this.#hasEnded || this.#error !== undefined) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
