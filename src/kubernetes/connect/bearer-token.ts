import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import { type Monotonic, seconds } from '#base/units.ts';
import { aroundTransport } from '../transport/around-transport.ts';
import { type Transport, TransportError, type TransportRequest } from '../transport/transport.ts';

/** Where the value of the `Authorization` header comes from. */
export interface Credentials {
  /** Returns the header's value, or undefined for none; may be read again. @throws {Error} when there never was one */
  authorization(): Promise<string | undefined>;
  /** Reads again now; called after a 401. @throws {Error} when it cannot be read */
  refresh(): Promise<string | undefined>;
}

/** Returns credentials that never change. */
export function staticCredentials(authorization: string | undefined): Credentials {
  const value = Promise.resolve(authorization);
  return { authorization: () => value, refresh: () => value };
}

/** Settings of {@link rereadCredentials}. */
export interface RereadOptions {
  readonly clock: Clock;
  /** Reads the current value of the header: a token file, an exec plugin. `isRefused`: the last one got a 401. */
  readonly read: (isRefused: boolean) => Promise<string | undefined>;
  /** Called with why reading failed while an older value is still at hand. */
  readonly onStale?: (error: unknown) => void;
}

const REREAD_AFTER = seconds(60);

/** Returns credentials that are read at most once a minute; calls at the same time share one reading. */
export function rereadCredentials(options: RereadOptions): Credentials {
  return new RereadCredentials(options);
}

class RereadCredentials implements Credentials {
  readonly #options: RereadOptions;
  #known: { readonly value: string | undefined; readonly readAt: Monotonic } | undefined;
  #reading: Promise<string | undefined> | undefined;

  constructor(options: RereadOptions) {
    this.#options = options;
  }

  async authorization(): Promise<string | undefined> {
    const known = this.#known;
    if (known === undefined) return this.#share(false);
    if (this.#options.clock.monotonic() - known.readAt < REREAD_AFTER) return known.value;
    try {
      return await this.#share(false);
    } catch (error) {
      // A projected token outlives its re-reading by minutes: better tried than given up.
      this.#options.onStale?.(error);
      this.#known = { value: known.value, readAt: this.#options.clock.monotonic() };
      return known.value;
    }
  }

  refresh(): Promise<string | undefined> {
    return this.#share(true);
  }

  #share(isRefused: boolean): Promise<string | undefined> {
    this.#reading ??= this.#read(isRefused).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(isRefused: boolean): Promise<string | undefined> {
    const value = await this.#options.read(isRefused);
    this.#known = { value, readAt: this.#options.clock.monotonic() };
    return value;
  }
}

/**
 * Returns `transport` whose requests are authorised. After a 401 the credentials are read again and, if they changed, the
 * request is sent once more: a 401 is without effect, so this holds for writes too, and `beforeSend` is asked again.
 */
export function withCredentials(transport: Transport, credentials: Credentials): Transport {
  return aroundTransport(transport, async (request, send) => {
    const first = await readFor(request, credentials);
    const answer = await send(authorised(request, first));
    if (answer.status !== 401) return answer;
    // Where nothing newer can be read, the 401 itself is the news.
    const second = await credentials.refresh().catch(() => first);
    if (second === first) return answer;
    if ('chunks' in answer) await answer.chunks[Symbol.asyncIterator]().return?.();
    return send(authorised(request, second));
  });
}

async function readFor(
  { method, path }: TransportRequest,
  credentials: Credentials,
): Promise<string | undefined> {
  try {
    return await credentials.authorization();
  } catch (cause) {
    const why = errorOf(cause).message;
    throw new TransportError(`Cannot ${method} ${path}: ${why}, it was not sent`, 'not-sent', {
      cause,
    });
  }
}

function authorised(request: TransportRequest, value: string | undefined): TransportRequest {
  if (value === undefined) return request;
  return { ...request, headers: { ...request.headers, authorization: value } };
}
