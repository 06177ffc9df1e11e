import type { FetchFunction } from '@slack/web-api';
import type { Clock } from '#base/clock.ts';
import type { Millis } from '#base/units.ts';
import { openTransport } from '#kubernetes/connect/connection.ts';
import type { ByteTransport } from '#kubernetes/transport/http-transport.ts';
import type { Environment } from '#kubernetes/transport/proxy.ts';
import type { TlsSettings } from '#kubernetes/transport/tls-settings.ts';

/** Settings of {@link SlackFetch}. */
export interface SlackFetchOptions {
  readonly clock: Clock;
  /** Where `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` are looked up. */
  readonly env: Environment;
  /** Of which the origin counts. */
  readonly baseUrl: URL;
  /** Whom a connection trusts. @default what Node brings along */
  readonly tls: () => TlsSettings;
  /** From the request to the last byte of its answer. */
  readonly timeout: Millis;
  /** Longest answer that is read, in bytes. */
  readonly longestAnswer: number;
}

/** What one call goes by. */
interface Fetching {
  readonly signal: AbortSignal;
  /** Told the status of an answer. */
  readonly answered: (status: number) => void;
  /** Taken out of the answer, where that repeats it: what is shown of one is cut, and a part of a token is not found. */
  readonly token: string;
}

/**
 * Sends what Slack's library asks for, over the same network as everything else: the one of Node knows no proxy, no authorities
 * of the host, and no bound of a body. Redirects are not followed: a token is for one host.
 */
export class SlackFetch {
  readonly #options: SlackFetchOptions;
  #transport: ByteTransport | undefined;
  #isClosed = false;

  constructor(options: SlackFetchOptions) {
    this.#options = options;
  }

  /** Returns what the library calls in place of `fetch`, for one call. It throws where there is no whole answer. */
  bound({ signal, answered, token }: Fetching): FetchFunction {
    return async (url, init = {}) => {
      const { timeout, longestAnswer } = this.#options;
      const { pathname, search } = new URL(url);
      const { status, headers, body } = await this.#open().request({
        method: 'POST',
        path: `${pathname}${search}`,
        headers: lowerCased(init.headers),
        ...(typeof init.body === 'string' && { body: init.body }),
        signal,
        timeout,
        longestAnswer,
      });
      answered(status);
      const content = Buffer.from(body).toString().replaceAll(token, '…') || null;
      return new Response(content, { status, headers: { ...headers } });
    };
  }

  /** Ends all connections; calls under way fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#transport?.close();
  }

  #open(): ByteTransport {
    if (this.#isClosed) throw new Error('the connections have been ended');
    const { clock, env, baseUrl, tls } = this.#options;
    const settings = { server: new URL(baseUrl.origin), tls, connections: 4 };
    this.#transport ??= openTransport(settings, { clock, env });
    return this.#transport;
  }
}

function lowerCased(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  const entries = Object.entries(headers);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}
