import type { Clock, Timer } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import { type Millis, type Monotonic, millis } from '#base/units.ts';
import { aroundTransport } from '../transport/around-transport.ts';
import { type Transport, TransportError, type TransportRequest } from '../transport/transport.ts';

/** Settings of {@link withRateLimit}. */
export interface RateLimitOptions {
  readonly clock: Clock;
  /** Tokens per second and API group; 0 or less means no limit (FL-16). */
  readonly qps: number;
  /** Tokens that a full bucket holds; 0 or less means no limit (K8-23). */
  readonly burst: number;
  /** The API group of a path without query: `core`, the name of the group, or what the path begins with (ME-13). */
  readonly groupOf: (path: string) => string;
  /** Counts a request that was never sent for want of a token (ME-6). */
  readonly onLimited?: (group: string) => void;
}

/**
 * `transport` behind one token bucket per API group, each full at the start (K8-20). A request waits in turn
 * until its deadline and is never sent without a token (K8-22). One call of this function is one client: its
 * buckets are its own (K8-21).
 *
 * @returns `transport` itself when there is no limit, so that not even a signal is looked at (K8-23)
 */
export function withRateLimit(transport: Transport, options: RateLimitOptions): Transport {
  if (options.qps <= 0 || options.burst <= 0) return transport;
  const limiter = new RateLimiter(options);
  const limited = aroundTransport(transport, async (request, send) =>
    send(await limiter.admit(request)),
  );
  return {
    ...limited,
    close: () => {
      limiter.close();
      return transport.close();
    },
  };
}

/** The buckets of one client. */
class RateLimiter {
  readonly #options: RateLimitOptions;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(options: RateLimitOptions) {
    this.#options = options;
  }

  close(): void {
    for (const bucket of this.#buckets.values()) bucket.close();
  }

  /** Takes a token; what is left of the deadline goes with the request. */
  async admit(request: TransportRequest): Promise<TransportRequest> {
    const { clock, groupOf, onLimited } = this.#options;
    const group = groupOf(request.path.split('?', 1)[0] ?? request.path);
    const bucket = this.#bucket(group);
    const start = clock.monotonic();
    try {
      await bucket.take(request);
      return withoutWait(request, millis(clock.monotonic() - start));
    } catch (cause) {
      onLimited?.(group);
      const why = errorOf(cause).message;
      throw new TransportError(
        `Cannot ${request.method} ${request.path}: the client-side rate limiter of API group "${group}" gave no token: ${why}, it was not sent`,
        'not-sent',
        { cause },
      );
    }
  }

  #bucket(group: string): TokenBucket {
    const known = this.#buckets.get(group);
    if (known !== undefined) return known;
    const { clock, qps, burst } = this.#options;
    const bucket = new TokenBucket(clock, qps, burst);
    this.#buckets.set(group, bucket);
    return bucket;
  }
}

/** Returns the request without what it waited. @throws {Error} when a late timer let the deadline pass */
function withoutWait(request: TransportRequest, waited: Millis): TransportRequest {
  const { timeout } = request;
  if (timeout === undefined || waited === 0) return request;
  if (waited >= timeout) {
    throw new Error(`the token came after ${waited} ms, the deadline was ${timeout} ms`);
  }
  return { ...request, timeout: millis(timeout - waited) };
}

interface Waiter {
  readonly admit: () => void;
  readonly refuse: (reason: Error) => void;
}

/** Tokens that refill over time, handed out first come first served; one who leaves gives his place back. */
class TokenBucket {
  readonly #clock: Clock;
  readonly #qps: number;
  readonly #burst: number;
  readonly #waiting: Set<Waiter> = new Set();
  #tokens: number;
  #refilledAt: Monotonic;
  #timer: Timer | undefined;

  constructor(clock: Clock, qps: number, burst: number) {
    this.#clock = clock;
    this.#qps = qps;
    this.#burst = burst;
    this.#tokens = burst;
    this.#refilledAt = clock.monotonic();
  }

  /** Resolves with a token taken. @throws why there is none before the deadline, or the signal's reason */
  async take(request: TransportRequest): Promise<void> {
    const { signal, timeout } = request;
    signal?.throwIfAborted();
    this.#refill();
    if (this.#waiting.size === 0 && this.#tokens >= 1) {
      this.#tokens -= 1;
      return;
    }
    const wait = this.#waitFor(this.#waiting.size + 1);
    if (timeout !== undefined && wait > timeout) {
      throw new Error(
        `the wait of ${Math.ceil(wait)} ms would exceed the deadline of ${timeout} ms`,
      );
    }
    await this.#queue(signal);
  }

  close(): void {
    this.#timer?.cancel();
    for (const waiter of this.#waiting) waiter.refuse(new Error('the transport was closed'));
  }

  #queue(signal: AbortSignal | undefined): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        const reason: unknown = signal?.reason;
        waiter.refuse(errorOf(reason));
      };
      const leave = (): void => {
        this.#waiting.delete(waiter);
        signal?.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter = {
        admit: () => {
          leave();
          resolve();
        },
        refuse: (reason) => {
          leave();
          reject(reason);
        },
      };
      this.#waiting.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#schedule();
    });
  }

  #refill(): void {
    const now = this.#clock.monotonic();
    const gained = ((now - this.#refilledAt) / 1_000) * this.#qps;
    this.#tokens = Math.min(this.#burst, this.#tokens + gained);
    this.#refilledAt = now;
  }

  #waitFor(tokens: number): Millis {
    return millis(Math.max(0, ((tokens - this.#tokens) / this.#qps) * 1_000));
  }

  #schedule(): void {
    this.#timer ??= this.#clock.timer(this.#waitFor(1), () => this.#serve(), {
      owner: 'rate limiter',
    });
  }

  #serve(): void {
    this.#timer = undefined;
    this.#refill();
    for (const waiter of this.#waiting) {
      // Refilling adds fractions; a token short by rounding would cost one more timer, not a request.
      if (this.#tokens < 1 - 1e-9) break;
      this.#tokens = Math.max(0, this.#tokens - 1);
      waiter.admit();
    }
    if (this.#waiting.size > 0) this.#schedule();
  }
}
