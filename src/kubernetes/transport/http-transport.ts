import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Clock } from '#base/clock.ts';
import { seconds } from '#base/units.ts';
import { ChunkQueue } from './chunk-queue.ts';
import { Connections, type ConnectionsOptions } from './connections.ts';
import { Exchange } from './exchange.ts';
import {
  AnswerTooLongError,
  type ByteRequest,
  type Transport,
  type TransportResponse,
  type TransportStream,
} from './transport.ts';

/** Settings of {@link createHttpTransport}. */
export interface HttpTransportOptions
  extends Pick<ConnectionsOptions, 'lookup' | 'proxy' | 'server'>,
    Partial<Pick<ConnectionsOptions, 'tls'>> {
  /** A path in it is put before every request's path. */
  readonly server: URL;
  readonly clock: Clock;
  /** Most connections for whole answers; streams have one each in addition. @default 32 */
  readonly connections?: number;
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
 *
 * @throws {Error} when the proxy is no URL of a known kind
 */
export function createHttpTransport(options: HttpTransportOptions): ByteTransport {
  return new HttpTransport(options);
}

/** How long a server may take to read the rest of a request that it has answered. */
const requestsReadWithin = seconds(10);

/** What reads an answer. */
interface AnswerReader {
  readonly begun: (answer: IncomingMessage) => void;
  readonly arrived: (chunk: Uint8Array) => void;
  readonly ended: () => void;
}

class HttpTransport implements ByteTransport {
  readonly #origin: string;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #answers: Connections;
  readonly #streams: Connections;
  readonly #closing = new AbortController();
  /** Streams whose headers have come and whose end has not. */
  readonly #open = new Set<Exchange>();

  constructor({ clock, connections = 32, tls = () => ({}), ...options }: HttpTransportOptions) {
    this.#origin = options.server.origin;
    this.#prefix = options.server.pathname.replace(/\/+$/, '');
    this.#clock = clock;
    this.#answers = new Connections({ ...options, clock, tls, most: connections });
    this.#streams = new Connections({ ...options, clock, tls, most: Number.POSITIVE_INFINITY });
  }

  request(request: ByteRequest): Promise<TransportResponse> {
    return new Promise<TransportResponse>((resolve, reject) => {
      const exchange = this.#begin(request, reject);
      const chunks: Uint8Array[] = [];
      const { longestAnswer = Number.POSITIVE_INFINITY, onBytes } = request;
      let length = 0;
      this.#send(this.#answers, exchange, {
        begun: (answer) => exchange.answered(answer),
        arrived: (chunk) => {
          length += chunk.length;
          try {
            onBytes?.(chunk.length);
          } catch (error) {
            exchange.breakOff(error);
          }
          if (exchange.isSettled) return;
          if (length <= longestAnswer) chunks.push(chunk);
          else exchange.breakOff(new AnswerTooLongError(longestAnswer));
        },
        ended: () => exchange.settle(() => resolve({ ...exchange.head, body: joined(chunks) })),
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
      this.#send(this.#streams, exchange, {
        begun: (answer) => {
          exchange.answered(answer);
          this.#open.add(exchange);
          exchange.continueAs((error) => chunks.fail(error));
          resolve({ ...exchange.head, chunks });
        },
        arrived: (chunk) => chunks.push(chunk),
        ended: () => {
          this.#open.delete(exchange);
          exchange.settle(() => chunks.end());
        },
      });
    });
  }

  close(): Promise<void> {
    this.#closing.abort();
    this.#answers.destroy();
    this.#streams.destroy();
    return Promise.resolve();
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

  #send(connections: Connections, exchange: Exchange, reader: AnswerReader): void {
    if (exchange.isSettled) return;
    const { request } = exchange;
    const head = {
      method: request.method,
      path: this.#prefix + request.path,
      headers: headersOf(request),
    };
    const leave = connections.request(head, {
      made: (sent) => {
        exchange.begin(sent);
        this.#receive(sent, exchange, reader);
      },
      connected: (sent) => {
        if (exchange.start()) sent.end(request.body);
        else sent.destroy();
      },
      refused: (error) => this.#fail(exchange, error),
    });
    if (leave !== undefined) exchange.begin({ destroy: leave });
  }

  #receive(sent: ClientRequest, exchange: Exchange, reader: AnswerReader): void {
    const fail = (error: Error): void => this.#fail(exchange, error);
    sent.once('response', (answer) => {
      answer.on('data', reader.arrived);
      answer.once('end', () => {
        reader.ended();
        if (!sent.writableFinished) this.#endUnread(sent);
      });
      answer.on('error', fail);
      reader.begun(answer);
    });
    sent.on('error', fail);
    // Without an answer and without an error, as after an upgrade that nobody asked for.
    sent.once('close', () => {
      if (exchange.head.status === 0) fail(new Error('the connection was closed'));
    });
  }

  /** Ends a connection whose server answered before it had read the request, if it does not go on to read it: it would never be free. */
  #endUnread(sent: ClientRequest): void {
    const limit = this.#clock.timer(requestsReadWithin, () => void sent.destroy(), {
      owner: 'request that is answered before it is read',
      background: true,
    });
    sent.once('close', () => limit.cancel());
  }

  #fail(exchange: Exchange, error: Error): void {
    this.#open.delete(exchange);
    exchange.fail(error);
    if (isRefused(error)) this.#leave(error);
  }
}

/** Returns the headers with the length of the body, which Node leaves out of a DELETE: an API server reads that body. */
function headersOf({ headers, body }: ByteRequest): Record<string, string | number> {
  return { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) };
}

function isRefused(error: Error): boolean {
  return 'code' in error && error.code === 'ECONNREFUSED';
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
}
