import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { MetricsRegistry } from '../metrics.ts';

const compress = promisify(gzip);

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * The exposition of a registry as bytes. A caller that asks while one is under way gets the same: an exposition costs
 * time of the only thread, and its bytes memory, however many ask.
 */
export class SharedExposition {
  readonly #registry: Pick<MetricsRegistry, 'expose'>;
  readonly #encoder = new TextEncoder();
  #plain: Promise<Bytes> | undefined;
  #gzipped: Promise<Bytes> | undefined;

  constructor(registry: Pick<MetricsRegistry, 'expose'>) {
    this.#registry = registry;
  }

  /** Returns the text in UTF-8. */
  plain(): Promise<Bytes> {
    this.#plain ??= this.#expose().finally(() => {
      this.#plain = undefined;
    });
    return this.#plain;
  }

  /** Returns the text in UTF-8, compressed. */
  gzipped(): Promise<Bytes> {
    this.#gzipped ??= this.#compress().finally(() => {
      this.#gzipped = undefined;
    });
    return this.#gzipped;
  }

  async #expose(): Promise<Bytes> {
    return this.#encoder.encode(await this.#registry.expose());
  }

  async #compress(): Promise<Bytes> {
    return new Uint8Array(await compress(await this.plain()));
  }
}
