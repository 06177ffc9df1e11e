import type { ServerResponse } from 'node:http';

/** Bytes of one buffer; what is longer is written without one. */
const bufferBytes = 512 * 1024;
/** Shorter writes are cheap without one. */
const leastBytes = 64 * 1024;
const maxBuffers = 8;

/**
 * Buffers in which long writes are put together, used again and again: a list of ten thousand pods that were allocated
 * again for each answer would make the garbage collector mark the whole store two or three times, on every processor.
 */
export class WriteBuffers {
  readonly #free: Buffer[] = [];
  #count = 0;

  /** Writes `parts` in one piece. @returns whether more may be written at once */
  write(response: ServerResponse, parts: readonly Uint8Array[]): boolean {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const buffer = length < leastBytes || length > bufferBytes ? undefined : this.#take();
    if (buffer === undefined) return response.write(Buffer.concat(parts, length));
    let at = 0;
    for (const part of parts) {
      buffer.set(part, at);
      at += part.length;
    }
    return response.write(buffer.subarray(0, length), () => void this.#free.push(buffer));
  }

  #take(): Buffer | undefined {
    const free = this.#free.pop();
    if (free !== undefined || this.#count === maxBuffers) return free;
    this.#count += 1;
    return Buffer.allocUnsafeSlow(bufferBytes);
  }
}
