import type { Clock } from '#base/clock.ts';
import { type Millis, type Monotonic, millis, seconds } from '#base/units.ts';
import { parseRetryAfter } from '../transport/api-error.ts';
import {
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
  type TransportStream,
} from '../transport/transport.ts';
import { earlier } from './answer-deadline.ts';

const MOST_TRIES = 4;
const LONGEST_WAIT = seconds(30);

/**
 * Returns `transport` that waits where the server asks it to: a GET answered 429 or 503 with `Retry-After` is sent again
 * after that time, at most three times, while its deadlines and 30 s permit. The time for the answer counts from here for
 * what is sent again, so that it includes the wait for the server.
 *
 * Writes and streams are never repeated here. A write rests on a decision that grows old while it waits, so
 * its error carries `retryAfter` to the work queue and the key is planned again; a watch has its own backoff.
 */
export function withServerThrottle(transport: Transport, clock: Clock): Transport {
  return new ServerThrottle(transport, clock);
}

class ServerThrottle implements Transport {
  readonly #inner: Transport;
  readonly #clock: Clock;

  constructor(inner: Transport, clock: Clock) {
    this.#inner = inner;
    this.#clock = clock;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    if (request.method !== 'GET') return this.#inner.request(request);
    const start = this.#clock.monotonic();
    for (let tries = 1; ; tries++) {
      const response = await this.#inner.request(this.#from(start, request));
      const wait = this.#wait(response);
      if (wait === undefined || tries === MOST_TRIES || wait > LONGEST_WAIT) return response;
      const { timeout, answerWithin } = this.#from(start, request);
      const left = earlier(timeout, answerWithin);
      if (left !== undefined && wait >= left) return response;
      await this.#sleep(wait, request);
    }
  }

  stream(request: TransportRequest): Promise<TransportStream> {
    return this.#inner.stream(request);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #wait(response: TransportResponse): Millis | undefined {
    if (response.status !== 429 && response.status !== 503) return undefined;
    return parseRetryAfter(response.headers['retry-after'], this.#clock.now());
  }

  /** Returns `request` with what is now left of its deadlines, which began at `start`. */
  #from(start: Monotonic, request: TransportRequest): TransportRequest {
    const { timeout, answerWithin } = request;
    const passed = this.#clock.monotonic() - start;
    return {
      ...request,
      ...(timeout !== undefined && { timeout: millis(timeout - passed) }),
      ...(answerWithin !== undefined && { answerWithin: millis(answerWithin - passed) }),
    };
  }

  async #sleep(wait: Millis, request: TransportRequest): Promise<void> {
    const { signal } = request;
    try {
      const options = { owner: 'server throttle' };
      await this.#clock.sleep(wait, signal === undefined ? options : { ...options, signal });
    } catch (cause) {
      throw new TransportError(
        `Cannot ${request.method} ${request.path}: the call was aborted while it waited for the throttling server`,
        'aborted',
        { cause },
      );
    }
  }
}
