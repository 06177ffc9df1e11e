import { once } from 'node:events';
import type { Server } from 'node:https';
import type { Server as Listener } from 'node:net';
import { errorOf } from '#base/error-of.ts';
import { type Millis, millis, minutes, seconds } from '#base/units.ts';
import type { ServedPair } from '#certificate/x509/certificate-source.ts';
import { ConnectionQueue } from '#telemetry/connection-limits/connection-queue.ts';
import { listenError } from '#telemetry/http/listen-error.ts';
import { statedLength } from '#telemetry/http/stated-length.ts';
import {
  type AdmissionListenerOptions,
  admissionListener,
  admissionRoutes,
  type ListenerExchange,
} from './admission-listener.ts';
import { requestTarget } from './request-target.ts';

/** How the webhook server is reached. */
export interface AdmissionServerOptions extends AdmissionListenerOptions {
  /** 0 lets the system choose. */
  readonly port: number;
  /** @default all interfaces */
  readonly host?: string;
  /** `-server-tls.request-timeout`. */
  readonly requestTimeout: Millis;
  /** Whether a client has to present a certificate stays as it is here. */
  readonly certificate: ServedPair;
  /** How long a server that closes still takes connections: endpoints are withdrawn meanwhile. @default 2 s */
  readonly drain?: Millis;
  /** Work that goes on after answers; waited for at the end. */
  readonly background?: () => Promise<unknown>;
}

/** An HTTPS server of webhooks that listens. */
export interface AdmissionServer {
  /** The port that it listens on. */
  readonly port: number;
  /** Rejects when it can answer no more, though it was not closed. */
  readonly failed: Promise<never>;
  /**
   * Gives new connections this certificate, all of them once it resolves; open ones keep theirs.
   *
   * @throws {Error} one sentence, when the two do not belong together; the earlier ones stay in use
   */
  setCertificate(certificate: ServedPair): Promise<void>;
  /**
   * Answers on for a while, with each connection ending after its answer; then takes no new one, and resolves when all
   * is answered. Calling it again gives the same promise.
   */
  close(): Promise<void>;
}

// Not imported: an import of node:https evaluates all that node:http exports, and with it Node's own copy of undici.
const { createServer } = process.getBuiltinModule('node:https');
const { createServer: createListener } = process.getBuiltinModule('node:net');

/** Time in which a connection must have agreed on TLS, of which an honest client needs a few round trips. */
const handshakeTimeout = seconds(3);
/** Time for which a connection without a request is kept. */
const idleTimeout = minutes(3);
/** How often the limits of reading are checked. */
const checkInterval = millis(500);
const defaultDrain = seconds(2);

/**
 * Starts the HTTPS server of the webhooks. HTTP/1.1, as the API server asks for.
 *
 * @throws {Error} one sentence, when the port is in use or cannot be listened on, or the certificate is none
 */
export async function startAdmissionServer(
  options: AdmissionServerOptions,
): Promise<AdmissionServer> {
  const server = new TlsServer(options);
  await server.listen();
  return server;
}

class TlsServer implements AdmissionServer {
  readonly failed = new Promise<never>(() => undefined);
  readonly #options: AdmissionServerOptions;
  readonly #server: Server;
  readonly #routeOf: (path: string) => string;
  /** Takes connections, of which the server gets those that have a place. */
  readonly #listener: Listener;
  readonly #queue: ConnectionQueue;
  #closed: Promise<void> | undefined;

  constructor(options: AdmissionServerOptions) {
    const { certificate, requestTimeout } = options;
    this.#options = options;
    this.#queue = new ConnectionQueue(options);
    this.#routeOf = admissionRoutes(options.handlers);
    const listener = admissionListener(options);
    const timeouts = {
      requestTimeout,
      headersTimeout: requestTimeout,
      handshakeTimeout: Math.min(handshakeTimeout, requestTimeout),
      keepAliveTimeout: idleTimeout,
      connectionsCheckingInterval: checkInterval,
    };
    try {
      const clients = { requestCert: certificate.clientCa !== undefined, rejectUnauthorized: true };
      const settings = { ...pem(certificate), ...clients, ...timeouts };
      this.#server = createServer(settings, (incoming, outgoing) => {
        const begun = options.clock.monotonic();
        const exchange = { incoming, outgoing, target: requestTarget(incoming.url ?? ''), begun };
        this.#queue.noteRequest(incoming, outgoing);
        this.#observe(exchange);
        listener(exchange);
      });
    } catch (error) {
      throw certificateError(error);
    }
    this.#listener = createListener({ pauseOnConnect: true }, (socket) =>
      this.#queue.add(socket, () => this.#server.emit('connection', socket)),
    );
    // From then on it ends what is asked too slowly.
    this.#listener.once('listening', () => this.#server.emit('listening'));
    // The write timeout: of silence, so that a slow reader is cut, and a late answer is not.
    this.#server.setTimeout(requestTimeout);
  }

  get port(): number {
    const address = this.#listener.address();
    return typeof address === 'object' && address !== null ? address.port : this.#options.port;
  }

  async listen(): Promise<void> {
    const { port, host, log } = this.#options;
    try {
      this.#listener.listen({ port, ...(host !== undefined && { host }) });
      await once(this.#listener, 'listening');
    } catch (error) {
      throw listenError({ serves: 'webhooks', port }, error);
    }
    for (const each of [this.#listener, this.#server]) {
      each.on('error', (error) => log.error('webhook server failed', { err: error }));
    }
    this.#server.on('tlsClientError', (error) =>
      log.debug('TLS handshake failed', { err: error.message }),
    );
  }

  async setCertificate(certificate: ServedPair): Promise<void> {
    try {
      this.#server.setSecureContext(pem(certificate));
    } catch (error) {
      throw certificateError(error);
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#drained();
    return this.#closed;
  }

  async #drained(): Promise<void> {
    const { clock, drain = defaultDrain, requestTimeout, background } = this.#options;
    this.#server.closeIdleConnections();
    await clock.sleep(drain, { owner: 'webhook server drain' });
    const { promise, resolve } = Promise.withResolvers<void>();
    const cut = (): void => this.#server.closeAllConnections();
    const timer = clock.timer(requestTimeout, cut, { background: true });
    this.#listener.close(() => resolve());
    this.#server.close();
    this.#server.closeIdleConnections();
    // Before they agree on TLS, connections are none that the server would end.
    this.#queue.endSilent();
    await promise;
    timer.cancel();
    await background?.();
  }

  /** Counts and times the request by what was really sent. */
  #observe({ incoming, outgoing, target, begun }: ListenerExchange): void {
    const { metrics, clock } = this.#options;
    const { method = '', headers } = incoming;
    const route = this.#routeOf(target.path);
    const isToEnd = this.#closed !== undefined || this.#queue.isToYield(incoming);
    if (isToEnd) outgoing.setHeader('connection', 'close');
    metrics.changeInflight(method, route, 1);
    outgoing.on('close', () => {
      metrics.changeInflight(method, route, -1);
      metrics.observeServed({
        method,
        route,
        status: outgoing.statusCode,
        isWebSocket: headers.upgrade?.toLowerCase() === 'websocket',
        duration: millis(clock.monotonic() - begun),
        requestBytes: statedLength(headers['content-length']),
        responseBytes: statedLength(outgoing.getHeader('content-length')),
      });
      if (this.#closed !== undefined) this.#server.closeIdleConnections();
    });
  }
}

function pem({ cert, key, clientCa }: ServedPair): {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string;
} {
  return { cert, key, ...(clientCa !== undefined && { ca: clientCa }) };
}

function certificateError(cause: unknown): Error {
  const why = errorOf(cause).message;
  return new Error(`Cannot use the certificate of the webhook server: ${why}`, { cause });
}
