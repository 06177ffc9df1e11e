import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Clock } from '#base/clock.ts';
import { bodyOf, LocalServer } from './local-server.ts';

/** One callback as the receiver saw it. */
export interface ReceivedCallback {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Name that the client wanted to agree on TLS with; undefined for none. */
  readonly serverName: string | undefined;
}

/** What answers a callback in place of the receiver, once. */
export type CallbackObstacle = (response: ServerResponse) => void;

/** How a receiver behaves. */
export interface CallbackServerOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** What callbacks must be signed by. @default they need not be */
  readonly signingKey?: string;
  /** Key and certificate in PEM. @default http */
  readonly identity?: { readonly key: string; readonly cert: string };
}

const longestAge = 300;

/**
 * Stands in for a deploy API on an address of this host, as E-4 to E-7 describe one: it refuses (401) what is not signed within
 * five minutes by its key, takes (200) what it has not seen, and answers 409 to what it has. Signatures are computed again, by
 * nothing that the client uses.
 */
export class CallbackServer {
  readonly received: ReceivedCallback[] = [];
  /** Bodies that were taken, by idempotency key. */
  readonly taken = new Map<string, string>();
  /** Answer the next callbacks, one each, before anything is looked at. */
  readonly obstacles: CallbackObstacle[] = [];
  readonly #options: CallbackServerOptions;
  readonly #server: LocalServer;
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor(options: CallbackServerOptions) {
    this.#options = options;
    const { identity } = options;
    const listener = (request: IncomingMessage, response: ServerResponse): void =>
      void this.#serve(request, response);
    this.#server = new LocalServer(listener, identity);
  }

  /** Starts listening. @returns the port */
  listen(address = '127.0.0.1', port = 0): Promise<number> {
    return this.#server.listen(address, port);
  }

  /** Returns how many connections have been made, ended or not. */
  get connections(): number {
    return this.#server.connections;
  }

  /** Returns how many connections are open. */
  get openConnections(): number {
    return this.#server.openConnections;
  }

  /** Resolves once this many callbacks have come. */
  async came(count: number): Promise<void> {
    if (this.received.length >= count) return;
    await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }));
  }

  /** Ends all connections and stops listening. */
  close(): Promise<void> {
    return this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const { socket } = request;
    const name = socket instanceof TLSSocket ? socket.servername : undefined;
    const seen: ReceivedCallback = {
      method: request.method ?? '',
      target: request.url ?? '',
      headers: request.headers,
      body,
      serverName: typeof name === 'string' ? name : undefined,
    };
    this.received.push(seen);
    const obstacle = this.obstacles.shift();
    if (obstacle === undefined) this.#take(seen, response);
    else obstacle(response);
    for (const { count, resolve } of this.#waiting) if (this.received.length >= count) resolve();
  }

  #take(seen: ReceivedCallback, response: ServerResponse): void {
    const { signingKey } = this.#options;
    const refusal = refusalOf(seen);
    if (refusal !== undefined) {
      response.writeHead(...refusal).end();
      return;
    }
    if (signingKey !== undefined && !this.#isSigned(seen, signingKey)) {
      response.writeHead(401).end('the signature is wrong');
      return;
    }
    const key = String(seen.headers['idempotency-key']);
    if (this.taken.has(key)) {
      response.writeHead(409).end('already known');
      return;
    }
    this.taken.set(key, seen.body);
    response.writeHead(200).end('taken');
  }

  #isSigned({ headers, body }: ReceivedCallback, key: string): boolean {
    const timestamp = headers['x-bedrock-timestamp'];
    const signature = headers['x-bedrock-signature'];
    if (typeof timestamp !== 'string' || typeof signature !== 'string') return false;
    const age = this.#options.clock.now() / 1_000 - Number(timestamp);
    if (!/^\d+$/.test(timestamp) || Math.abs(age) > longestAge) return false;
    const hmac = createHmac('sha256', Buffer.from(key));
    const wanted = Buffer.from(`v1=${hmac.update(`${timestamp}.${body}`).digest('hex')}`);
    const given = Buffer.from(signature);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }
}

/** What no receiver could take: all of E-3 is there, signed or not. */
function refusalOf({ method, headers }: ReceivedCallback): [number, string] | undefined {
  if (method !== 'POST') return [405, 'Method Not Allowed'];
  if (headers['content-type'] !== 'application/json') return [415, 'Unsupported Media Type'];
  if (!/^[\da-f]{64}$/.test(String(headers['idempotency-key']))) return [400, 'No key'];
  if (!/^\d{1,12}$/.test(String(headers['x-bedrock-timestamp']))) return [400, 'No timestamp'];
  if (!/^statefulset-rollout-operator\/\S+$/.test(headers['user-agent'] ?? ''))
    return [400, 'No agent'];
  return undefined;
}

/** Answers with `status`. */
export function withStatus(
  status: number,
  headers: Readonly<Record<string, string>> = {},
): CallbackObstacle {
  return (response) => response.writeHead(status, headers).end(`answer ${status}`);
}
