import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { minutes, seconds } from '#base/units.ts';
import { ConnectionPlaces } from '../connection-limits/connection-places.ts';
import { RequestsOfConnection } from '../connection-limits/requests-of-connection.ts';
import type { HttpApp, HttpAppOptions } from './http-app.ts';
import { httpApp } from './http-app.ts';
import { type WholeResponse, writeResponse } from './http-response.ts';
import { listenError } from './listen-error.ts';

/** How the plain HTTP server is reached, and what it answers with. */
export interface HttpServerOptions extends HttpAppOptions {
  /** 0 lets the system choose. */
  readonly port: number;
  /** @default all interfaces */
  readonly host?: string;
  /** What answers in place of {@link httpApp}; given what that would be, which is not ready once the server closes. */
  readonly appOf?: (usual: HttpApp, isReady: () => boolean) => HttpApp;
  /** As PEM texts: HTTPS is served. @default none: plain HTTP */
  readonly certificate?: { readonly cert: string; readonly key: string };
}

/** A plain HTTP server that listens. */
export interface HttpServer {
  /** The port that it listens on. */
  readonly port: number;
  /**
   * Withdraws `/ready`, takes no new connection, and resolves when the requests under way are answered, which
   * is at most {@link writeTimeout} later. Calling it again gives the same promise.
   */
  close(): Promise<void>;
}

// Not imported: an import of node:http evaluates all that it exports, and with it Node's own copy of undici.
const { createServer } = process.getBuiltinModule('node:http');

/** Time in which a request must have arrived, and that in which it must have been answered (ME-30). */
const readTimeout = seconds(10);
const writeTimeout = seconds(10);
/** Time for which a connection without a request is kept (ME-30). */
const idleTimeout = minutes(3);
/** How often the two read limits are checked. */
const checkInterval = seconds(1);
/** Time in which a connection must have agreed on TLS. */
const handshakeTimeout = seconds(3);

const timeouts = {
  requestTimeout: readTimeout,
  headersTimeout: readTimeout,
  keepAliveTimeout: idleTimeout,
  connectionsCheckingInterval: checkInterval,
};

/**
 * Starts the plain HTTP server (FL-12).
 *
 * @throws {Error} one sentence, when the port is in use or cannot be listened on
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const server = new PlainHttpServer(options);
  await server.listen();
  return server;
}

class PlainHttpServer implements HttpServer {
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  #closed: Promise<void> | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    const isReady = (): boolean => this.#closed === undefined && options.isReady();
    const { appOf = (usual) => usual, certificate } = options;
    const app = appOf(httpApp({ ...options, isReady }), isReady);
    const places = new ConnectionPlaces({ clock: options.clock });
    const underWay = new RequestsOfConnection();
    const listener = withWriteTimeout(options.clock, (request, response) => {
      places.noteRequest(request, response);
      this.#answer(app(request, underWay.enter(request, response)), response);
    });
    const whole: RequestListener = (request, response) => {
      // A thousand may be in one chunk, which is parsed to its end.
      if (!underWay.isRefused(request)) listener(request, response);
    };
    this.#server =
      certificate === undefined
        ? createServer(timeouts, whole)
        : // Loaded here only: most servers speak plain HTTP.
          process
            .getBuiltinModule('node:https')
            .createServer({ ...certificate, ...timeouts, handshakeTimeout }, whole);
    this.#server.on('connection', (socket) => places.add(socket));
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : this.#options.port;
  }

  async listen(): Promise<void> {
    const { port, host, logger } = this.#options;
    try {
      this.#server.listen({ port, ...(host === undefined ? {} : { host }) });
      await once(this.#server, 'listening');
    } catch (error) {
      throw listenError({ serves: 'HTTP', port }, error);
    }
    this.#server.on('error', (error) => logFailure(logger, error));
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      const cut = (): void => this.#server.closeAllConnections();
      const timer = this.#options.clock.timer(writeTimeout, cut, { background: true });
      this.#server.close(() => {
        timer.cancel();
        resolve();
      });
    });
    return this.#closed;
  }

  /** Answers a request; once the server closes, the connection ends with the answer that is under way on it. */
  #answer(answered: Promise<WholeResponse>, response: ServerResponse): void {
    response.once('close', () => {
      if (this.#closed !== undefined) this.#server.closeIdleConnections();
    });
    const failed = (error: unknown): void => {
      logFailure(this.#options.logger, error);
      response.destroy();
    };
    answered.then((whole) => writeResponse(response, whole)).catch(failed);
  }
}

function withWriteTimeout(clock: Clock, listener: RequestListener): RequestListener {
  return (request: IncomingMessage, response: ServerResponse) => {
    const cut = (): void => void response.destroy();
    const timer = clock.timer(writeTimeout, cut, { owner: 'http write', background: true });
    response.once('close', () => timer.cancel());
    listener(request, response);
  };
}

function logFailure(logger: Logger, error: unknown): void {
  logger.error('HTTP server failed', { err: errorOf(error) });
}
