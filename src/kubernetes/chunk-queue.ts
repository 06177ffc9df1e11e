import type { TransportError } from './transport.ts';

/** What a {@link ChunkQueue} asks of the connection that fills it. */
export interface ChunkSource {
  pause(): void;
  resume(): void;
  /** Nobody reads on: the connection may be destroyed. */
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
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    if (this.#bytes > HIGH_WATER_BYTES && !this.#isPaused) {
      this.#isPaused = true;
      this.#source.pause();
    }
    this.#notify();
  }

  /** The answer is complete; the reader gets what is held, then the end. */
  end(): void {
    this.#hasEnded = true;
    this.#notify();
  }

  /** The connection broke; the reader gets what is held, then `error`. Only the first end or failure counts. */
  fail(error: TransportError): void {
    if (!this.#hasEnded) this.#error ??= error;
    this.#notify();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        yield* this.#take();
        if (this.#chunks.length > 0) continue;
        if (this.#error !== undefined) throw this.#error;
        if (this.#hasEnded) return;
        await this.#arrival();
      }
    } finally {
      this.#source.cancel();
    }
  }

  #take(): readonly Uint8Array[] {
    const taken = this.#chunks;
    this.#chunks = [];
    this.#bytes = 0;
    return taken;
  }

  async #arrival(): Promise<void> {
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#source.resume();
    }
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
