import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Millis } from '#base/units.ts';
import type { Environment } from '#kubernetes/transport/proxy.ts';
import type { ServerTrust } from '#kubernetes/transport/server-trust.ts';
import {
  AnswerTooLongError,
  type Method,
  TransportError,
} from '#kubernetes/transport/transport.ts';
import { readAuthorityBundle } from '../http/authority-bundle.ts';
import { ServerPools } from '../http/server-pools.ts';

/** A request as the SDK of AWS hands it to its HTTP handler. */
export interface AwsRequest {
  readonly method: string;
  /** With its colon. */
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** What comes with a request. */
export interface AwsSending {
  readonly abortSignal?: unknown;
  /** Longest answer to it, in bytes. @default that of all requests, which is none the less the most */
  readonly longestAnswer?: number;
}

/** An answer as the SDK takes it. */
export interface AwsResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

/** Settings of {@link AwsHttpHandler}. */
export interface AwsHttpHandlerOptions {
  readonly clock: Clock;
  /** Where `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY` and `AWS_CA_BUNDLE` are looked up. */
  readonly env: Environment;
  /** From when a request is sent to the last byte of its answer. */
  readonly timeout: Millis;
  /** Longest answer that is read, in bytes. */
  readonly longestAnswer: number;
}

/** Why a request of the SDK has no whole answer. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
  /** The SDK tries those again that have one of its codes. */
  readonly code: 'ECONNRESET' | 'NoAnswer';
  readonly reason: 'Unreachable' | 'TimedOut' | 'TooLong' | 'BadConfiguration';

  constructor(message: string, reason: NoAnswerError['reason'], options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.code = reason === 'Unreachable' ? 'ECONNRESET' : 'NoAnswer';
  }
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Sends what the SDK of AWS asks for, over the same network as everything else: its own knows no proxy, no authorities but
 * those that Node brings along, and no bound in time or length of a body. Redirects are not followed, as signatures hold for
 * one host.
 */
export class AwsHttpHandler {
  readonly metadata = { handlerProtocol: 'http/1.1' };
  readonly #options: AwsHttpHandlerOptions;
  readonly #pools: ServerPools;
  /** Once it could be read. */
  #trust: ServerTrust | undefined;
  /** Of requests that their callers cannot abort. */
  #fetching = new AbortController();
  #isClosed = false;

  constructor(options: AwsHttpHandlerOptions) {
    this.#options = options;
    const { clock, env } = options;
    this.#pools = new ServerPools({ clock, env, connections: 8 });
  }

  /** Sends, and reads the whole answer. @throws {NoAnswerError} when there is none */
  async handle(
    request: AwsRequest,
    { abortSignal, longestAnswer: longest }: AwsSending = {},
  ): Promise<{ response: AwsResponse }> {
    const url = urlOf(request);
    const trust = await this.#trusted();
    // Fetches of credentials go on when nothing asks any more.
    if (this.#isClosed) throw noAnswer(new Error('the connections have been ended'), url);
    const server = { key: url.origin, trust };
    this.#pools.enter(server);
    const fetching = this.#fetching.signal;
    const signal = abortSignal instanceof AbortSignal ? abortSignal : fetching;
    try {
      const transport = this.#pools.transport(server, url);
      const { timeout, longestAnswer } = this.#options;
      const { status, headers, body } = await transport.request({
        method: methodOf(request),
        path: targetOf(request),
        headers: request.headers,
        ...bodyOf(request),
        signal,
        timeout,
        longestAnswer: Math.min(longestAnswer, longest ?? longestAnswer),
      });
      return { response: { statusCode: status, headers: { ...headers }, body } };
    } catch (error) {
      if (signal !== fetching || !fetching.aborted) throw noAnswer(errorOf(error), url);
      throw new NoAnswerError(`no answer of ${url.host} in time`, 'TimedOut', { cause: error });
    } finally {
      this.#pools.leave(server);
    }
  }

  /** Ends requests for credentials, which the SDK sends without a signal. */
  giveUpFetches(): void {
    this.#fetching.abort();
    this.#fetching = new AbortController();
  }

  async #trusted(): Promise<ServerTrust> {
    if (this.#trust !== undefined) return this.#trust;
    try {
      const besides = await readAuthorityBundle(this.#options.env);
      this.#trust = besides === undefined ? {} : { besides };
      return this.#trust;
    } catch (error) {
      const { message } = errorOf(error);
      throw new NoAnswerError(message, 'BadConfiguration', { cause: error });
    }
  }

  /** Does nothing: the settings are those of the program. */
  updateHttpClientConfig(): void {
    // No setting can be changed.
  }

  /** Returns no settings, as there are none that the SDK might change. */
  httpHandlerConfigs(): Record<string, never> {
    return {};
  }

  /** Does nothing: the SDK ends a client whose connections the next one uses, see {@link close}. */
  destroy(): void {
    // Ended by close().
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pools.close();
  }
}

function urlOf({ protocol, hostname, port }: AwsRequest): URL {
  return new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`);
}

function methodOf({ method }: AwsRequest): Method {
  const known = methods.find((each) => each === method);
  if (known === undefined) throw new Error(`the SDK of AWS asks for the method ${method}`);
  return known;
}

/** Returns path and query, encoded as in the signature. */
function targetOf({ path, query = {} }: AwsRequest): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => {
    if (value === null) return [encoded(name)];
    const values = typeof value === 'string' ? [value] : value;
    return values.map((each) => `${encoded(name)}=${encoded(each)}`);
  });
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function bodyOf({ body }: AwsRequest): { readonly body?: string | Uint8Array } {
  if (body === undefined || body === null) return {};
  if (typeof body === 'string' || body instanceof Uint8Array) return { body };
  throw new Error('the SDK of AWS sends a body that is neither text nor bytes');
}

function noAnswer(error: Error, { host }: URL): NoAnswerError {
  const isFromTransport = error instanceof TransportError;
  const inner = isFromTransport && error.cause !== undefined ? errorOf(error.cause) : error;
  const message = `no answer of ${host}: ${inner.message}`;
  const options = { cause: error };
  if (inner instanceof AnswerTooLongError) return new NoAnswerError(message, 'TooLong', options);
  if (isFromTransport && error.failure === 'timeout') {
    return new NoAnswerError(`no whole answer of ${host} in time`, 'TimedOut', options);
  }
  return new NoAnswerError(message, 'Unreachable', options);
}
