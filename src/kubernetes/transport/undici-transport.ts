import type { LookupFunction } from 'node:net';
import type { ConnectionOptions, SecureContext, SecureContextOptions } from 'node:tls';
import type { buildConnector, Dispatcher } from 'undici';
import connectorOf from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import type { Clock } from '#base/clock.ts';
import { seconds } from '#base/units.ts';
import { ChunkQueue } from './chunk-queue.ts';
import { Exchange } from './exchange.ts';
import {
  AnswerTooLongError,
  type ByteRequest,
  type Transport,
  type TransportResponse,
  type TransportStream,
} from './transport.ts';

/** How an HTTPS connection is made; PEM texts, not paths. */
export interface TlsSettings extends Pick<SecureContextOptions, 'ca' | 'cert' | 'key'> {
  /** Name that the server's certificate must carry. @default the host of the URL */
  readonly serverName?: string;
  /** Accepts any certificate. @default false */
  readonly isInsecure?: boolean;
  /** Made once for many connections, in place of the PEM texts. @default each connection makes its own */
  readonly secureContext?: SecureContext;
}

/** What every dispatcher of a transport is made with. */
export interface DispatcherSettings {
  /** Most connections; null for any number. */
  readonly connections: number | null;
  readonly allowH2: false;
  readonly headersTimeout: 0;
  readonly bodyTimeout: 0;
  /** How long a connection is kept that nothing uses, in ms. */
  readonly keepAliveTimeout: number;
}

/**
 * Longer than pods take to restart, so that the deletions of the next pods find their connections open; shorter than
 * load balancers and API servers keep what is idle (60 s and more), so that none is used that is closed meanwhile.
 */
const idleConnectionsLast = seconds(30);

/** Makes a pool of connections to the server; `tls` is how each is made. */
export type DispatcherFactory = (
  settings: DispatcherSettings,
  tls: () => TlsSettings,
) => Dispatcher;

/** Settings of {@link createUndiciTransport}. */
export interface UndiciTransportOptions {
  /** URL of the API server; a path in it is put before every request's path. */
  readonly server: URL;
  readonly clock: Clock;
  /** Read for every new connection, so that renewed certificates take effect; once when there is a proxy. */
  readonly tls?: () => TlsSettings;
  /** Makes the connections. @default directly to the server */
  readonly dispatcherOf?: DispatcherFactory;
  /** Most connections for whole answers; streams have one each in addition. @default 32 */
  readonly connections?: number;
  /** Finds the addresses of the server, unless {@link dispatcherOf} connects. @default the system's way */
  readonly lookup?: LookupFunction;
}

/** A transport that sends bodies which are no text, too; the API server is never sent any. */
export interface ByteTransport extends Transport {
  request(request: ByteRequest): Promise<TransportResponse>;
}

/**
 * Returns the transport over HTTP(S), with connections kept alive.
 *
 * Whole answers share a bounded pool; streams have their own connections, so that no number of watches can
 * starve a write. HTTP/1.1 only: a stalled stream then stalls nothing else, and a connection per stream makes
 * "handed to the connection" an exact instant. A stream that is never read keeps its connection until its
 * signal aborts or the transport closes.
 *
 * No compression is asked for: it applies to no watch, and a list of 10,000 pods would gain a fifth of its
 * time at the price of as much work for the server.
 */
export function createUndiciTransport(options: UndiciTransportOptions): ByteTransport {
  return new UndiciTransport(options);
}

type ConnectSettings = Pick<
  ConnectionOptions,
  'ca' | 'cert' | 'key' | 'secureContext' | 'servername' | 'rejectUnauthorized'
>;

class UndiciTransport implements ByteTransport {
  readonly #origin: string;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #answers: Dispatcher;
  readonly #streams: Dispatcher;
  /** undici closes idle connections only; a stream that is not read must end as well. */
  readonly #closing = new AbortController();
  /** Streams whose headers have come and whose end has not. */
  readonly #open = new Set<Exchange>();

  constructor(options: UndiciTransportOptions) {
    this.#origin = options.server.origin;
    this.#prefix = options.server.pathname.replace(/\/+$/, '');
    this.#clock = options.clock;
    this.#answers = dispatcherOf(options, options.connections ?? 32);
    this.#streams = dispatcherOf(options, null);
  }

  request(request: ByteRequest): Promise<TransportResponse> {
    return new Promise<TransportResponse>((resolve, reject) => {
      const exchange = this.#begin(request, reject);
      const chunks: Uint8Array[] = [];
      const { longestAnswer = Number.POSITIVE_INFINITY, onBytes } = request;
      let length = 0;
      this.#dispatch(this.#answers, exchange, {
        onResponseStart: (_, status, headers) => exchange.answered(status, headers),
        onResponseData: (_, chunk) => {
          length += chunk.length;
          onBytes?.(chunk.length);
          if (exchange.isSettled) return;
          if (length <= longestAnswer) chunks.push(chunk);
          else exchange.breakOff(new AnswerTooLongError(longestAnswer));
        },
        onResponseEnd: () => {
          exchange.settle(() => resolve({ ...exchange.head, body: joined(chunks) }));
        },
      });
    });
  }

  stream(request: ByteRequest): Promise<TransportStream> {
    return new Promise<TransportStream>((resolve, reject) => {
      const exchange = this.#begin(request, reject);
      const chunks = new ChunkQueue({
        pause: () => exchange.pause(),
        resume: () => exchange.resume(),
        cancel: () => {
          this.#open.delete(exchange);
          exchange.cancel();
        },
      });
      this.#dispatch(this.#streams, exchange, {
        onResponseStart: (_, status, headers) => {
          // An interim answer, such as 103: the answer itself is still to come.
          if (status < 200) return;
          exchange.answered(status, headers);
          this.#open.add(exchange);
          exchange.continueAs((error) => chunks.fail(error));
          resolve({ ...exchange.head, chunks });
        },
        onResponseData: (_, chunk) => chunks.push(chunk),
        onResponseEnd: () => {
          this.#open.delete(exchange);
          exchange.settle(() => chunks.end());
        },
      });
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#answers.destroy(), this.#streams.destroy()]);
  }

  /**
   * Ends the stream, as no client listens any more. An API server that shuts down waits up to a minute for its streams to end,
   * and does not say them: they end here, so that it may go, and their readers resume at its successor.
   */
  #leave(cause: Error): void {
    for (const stream of this.#open) {
      this.#open.delete(stream);
      stream.breakOff(cause);
    }
  }

  #begin(request: ByteRequest, reject: (error: unknown) => void): Exchange {
    return new Exchange(request, {
      clock: this.#clock,
      server: this.#origin,
      closing: this.#closing.signal,
      reject,
    });
  }

  #dispatch(
    dispatcher: Dispatcher,
    exchange: Exchange,
    handler: Pick<
      Dispatcher.DispatchHandler,
      'onResponseStart' | 'onResponseData' | 'onResponseEnd'
    >,
  ): void {
    if (exchange.isSettled) return;
    const { request } = exchange;
    try {
      dispatcher.dispatch(
        {
          origin: this.#origin,
          path: this.#prefix + request.path,
          method: request.method,
          headers: request.headers ?? {},
          body: request.body ?? null,
          // An API server reads the body of a DELETE, which undici doubts: it would close the connection after each.
          reset: false,
        },
        {
          ...handler,
          onRequestStart: (controller) => exchange.start(controller),
          onResponseError: (_, error) => {
            this.#open.delete(exchange);
            exchange.fail(error);
            if (isRefused(error)) this.#leave(error);
          },
        },
      );
    } catch (error) {
      exchange.fail(error);
    }
  }
}

function dispatcherOf(options: UndiciTransportOptions, connections: number | null): Dispatcher {
  const { lookup, tls = () => ({}) } = options;
  const { dispatcherOf: factory = directly(lookup) } = options;
  // Deadlines are ours, on the injected clock: undici's would cut a quiet watch after 300 s.
  const deadlines = { headersTimeout: 0, bodyTimeout: 0 } as const;
  const keepAliveTimeout = idleConnectionsLast;
  return factory({ connections, allowH2: false, ...deadlines, keepAliveTimeout }, tls);
}

function directly(lookup: LookupFunction | undefined): DispatcherFactory {
  const found = lookup === undefined ? {} : { lookup };
  return (settings, tls) => {
    const connect: buildConnector.connector = (target, done) => {
      connectorOf({ ...connectOptions(tls()), ...found, allowH2: false })(target, done);
    };
    return new Agent({ ...settings, connect });
  };
}

/** Returns `tls` in Node's terms. */
export function connectOptions(tls: TlsSettings): ConnectSettings {
  const { serverName, isInsecure, ...context } = tls;
  return {
    ...context,
    ...(serverName !== undefined && { servername: serverName }),
    rejectUnauthorized: isInsecure !== true,
  };
}

function isRefused(error: Error): boolean {
  return 'code' in error && error.code === 'ECONNREFUSED';
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
}
