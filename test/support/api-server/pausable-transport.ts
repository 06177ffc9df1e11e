import type { Clock } from '#base/clock.ts';
import type {
  Transport,
  TransportRequest,
  TransportResponse,
  TransportStream,
} from '#kubernetes/transport/transport.ts';
import { PausableClock } from '../clocks/pausable-clock.ts';

/** Returns `transport` as a process sees it that runs by `clock`: halted with it, where that can be paused. */
export function seenWhileRunning(clock: Clock, transport: Transport): Transport {
  return clock instanceof PausableClock ? new PausableTransport(transport, clock) : transport;
}

/** The connection of a process that may be stopped: what arrives meanwhile is seen when it runs again. */
export class PausableTransport implements Transport {
  readonly #inner: Transport;
  readonly #clock: PausableClock;

  constructor(inner: Transport, clock: PausableClock) {
    this.#inner = inner;
    this.#clock = clock;
  }

  request(request: TransportRequest): Promise<TransportResponse> {
    return this.#seen(this.#inner.request(request));
  }

  async stream(request: TransportRequest): Promise<TransportStream> {
    const { status, headers, chunks } = await this.#seen(this.#inner.stream(request));
    return { status, headers, chunks: this.#chunks(chunks) };
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  async #seen<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } finally {
      await this.#clock.running();
    }
  }

  /** Takes what arrives at once, as a socket does, and hands it on while the process runs. */
  async *#chunks(arriving: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    const iterator = arriving[Symbol.asyncIterator]();
    const arrived: IteratorResult<Uint8Array>[] = [];
    const state: { error?: unknown; hasEnded: boolean; wake: () => void } = {
      hasEnded: false,
      wake: () => undefined,
    };
    const take = async (): Promise<void> => {
      for (;;) {
        const next = await iterator.next();
        arrived.push(next);
        state.wake();
        if (next.done === true) return;
      }
    };
    take().catch((error: unknown) => {
      state.error = error;
      state.hasEnded = true;
      state.wake();
    });
    try {
      for (;;) {
        await this.#clock.running();
        const next = arrived.shift();
        if (next?.done === true) return;
        if (next !== undefined) yield next.value;
        else if (state.hasEnded) throw state.error;
        else await new Promise<void>((resolve) => (state.wake = resolve));
      }
    } finally {
      await iterator.return?.();
    }
  }
}
