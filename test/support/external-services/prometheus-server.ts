import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { LocalServer } from './local-server.ts';

/** What answers one request. */
export type Handler = (response: ServerResponse, request: IncomingMessage) => void;

/** Key and certificate of a server, in PEM. */
export interface ServerIdentity {
  readonly key: string;
  readonly cert: string;
}

/** One request as the server saw it. */
export interface ReceivedQuery {
  /** Path and query. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

/** A server on 127.0.0.1 that answers, badly too, as a test says. */
export class PrometheusServer {
  readonly received: ReceivedQuery[] = [];
  readonly #server: LocalServer;
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor(handle: Handler, identity?: ServerIdentity) {
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      this.received.push({ target: request.url ?? '', headers: request.headers });
      handle(response, request);
      for (const { count, resolve } of this.#waiting) {
        if (this.received.length >= count) resolve();
      }
    };
    this.#server = new LocalServer(listener, identity);
  }

  /** Starts listening. @returns the port */
  listen(): Promise<number> {
    return this.#server.listen();
  }

  /** Returns how many connections are open. */
  get connections(): number {
    return this.#server.openConnections;
  }

  /** Resolves once this many requests have come. */
  async came(count: number): Promise<void> {
    if (this.received.length >= count) return;
    await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }));
  }

  /** Ends all connections and stops listening. */
  close(): Promise<void> {
    return this.#server.close();
  }
}

/** One series of value 4. */
export const oneSeries =
  '{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"4"]}]}}';

/** Answers 200 with `body`. */
export function answering(body: string, headers: Readonly<Record<string, string>> = {}): Handler {
  return (response) => response.writeHead(200, headers).end(body);
}

/** Answers with a status that redirects to `location`. */
export function redirecting(location: string, status = 302): Handler {
  return (response) => response.writeHead(status, { location }).end('moved');
}

/** Takes requests and says nothing. */
export const hanging: Handler = () => undefined;

/** Writes up to `bytes` spaces, each piece as soon as the reader has room. @param told called for each piece that is written */
export function flooding(bytes: number, told: (written: number) => void): Handler {
  const piece = Buffer.alloc(65_536, ' ');
  return (response) => {
    response.writeHead(200);
    let written = 0;
    const write = (): void => {
      if (written >= bytes || response.destroyed) {
        response.end();
        return;
      }
      written += piece.length;
      told(written);
      response.write(piece, write);
    };
    write();
  };
}
