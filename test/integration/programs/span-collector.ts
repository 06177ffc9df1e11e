import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { type SeenSpan, spansIn } from '#support/telemetry/otlp-spans.ts';

/** A collector of spans that come by OTLP in JSON; or one that takes them and never answers. */
export class SpanCollector {
  readonly spans: SeenSpan[] = [];
  readonly #server = createServer((incoming, outgoing) => void this.#take(incoming, outgoing));
  readonly #isHanging: boolean;
  readonly #waiting = new Set<() => void>();
  /** How many batches have arrived. */
  batches = 0;

  constructor({ isHanging = false }: { readonly isHanging?: boolean } = {}) {
    this.#isHanging = isHanging;
  }

  /** Begins to listen. @returns what the operator's environment needs to send here each span when it ends */
  async listen(): Promise<Readonly<Record<string, string>>> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no TCP address');
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${address.port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1',
    };
  }

  /** Waits until `find` finds something in what has arrived. */
  async until<T>(find: (spans: readonly SeenSpan[], batches: number) => T | undefined): Promise<T> {
    for (;;) {
      const found = find(this.spans, this.batches);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #take(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await text(incoming);
    this.batches += 1;
    if (!this.#isHanging) {
      if (incoming.url === '/v1/traces') this.spans.push(...spansIn(body));
      outgoing.writeHead(incoming.url === '/v1/traces' ? 200 : 404).end('{}');
    }
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
