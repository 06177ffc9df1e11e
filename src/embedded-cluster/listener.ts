import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Listener, User } from './cluster.ts';
import { type ApiAnswer, PROTOBUF_TYPE, type WholeAnswer } from './rest/api-request.ts';
import type { ApiServer } from './rest/api-server.ts';
import type { WatchSession } from './watch/watch-session.ts';

const ADMINISTRATOR: User = {
  name: 'system:admin',
  groups: ['system:masters', 'system:authenticated'],
};

/** Bodies above this are not even read to their end; the server's own limit answers for smaller ones (HT-7). */
const READ_LIMIT = 4 * 1024 * 1024;

/** Stands before the token in a path: `/as/<token>/api/v1/…` is `/api/v1/…` with that bearer token. */
const TOKEN_PREFIX = '/as/';

/** Entropy of a token. */
const TOKEN_BYTES = 32;

/** Options of {@link HttpListener.open}. */
export interface ListenOptions {
  /** @default a free one */
  readonly port?: number;
  readonly isTls?: boolean;
}

/** Serves the API over HTTP on 127.0.0.1; who the user is follows from the bearer token (EM-2). */
export class HttpListener implements Listener {
  readonly url: string;
  readonly #server: Server;
  readonly #users = new Map<string, User>();
  readonly #clients = new WeakMap<Socket, string>();
  readonly #api: ApiServer;
  #connections = 0;

  private constructor(api: ApiServer, server: Server) {
    this.#api = api;
    this.#server = server;
    this.url = `http://127.0.0.1:${portOf(server.address())}`;
    server.on('request', (request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        response.destroy(error instanceof Error ? error : new Error(String(error)));
      });
    });
  }

  /** Starts to listen. @throws {Error} when the port is taken, and for TLS */
  static async open(api: ApiServer, options: ListenOptions): Promise<HttpListener> {
    if (options.isTls === true) {
      throw new Error(
        'Cannot listen with TLS as this build has no library that issues certificates: leave isTls out',
      );
    }
    const server = createServer({ keepAliveTimeout: 60_000, noDelay: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port ?? 0, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
    return new HttpListener(api, server);
  }

  kubeconfig(user: User = ADMINISTRATOR): string {
    const token = this.token(user);
    return [
      'apiVersion: v1',
      'kind: Config',
      'current-context: embedded',
      'clusters:',
      '- name: embedded',
      '  cluster:',
      // kubectl sends no credentials over plain HTTP: for it the token is a part of the address.
      `    server: ${this.url}${TOKEN_PREFIX}${token}`,
      'contexts:',
      '- name: embedded',
      '  context:',
      '    cluster: embedded',
      '    user: embedded',
      'users:',
      '- name: embedded',
      '  user:',
      `    token: ${token}`,
      '',
    ].join('\n');
  }

  /** A new bearer token of `user`. */
  token(user: User = ADMINISTRATOR): string {
    // Never from the seed, which is printed and shared: a token must not be guessable (EM-2).
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    this.#users.set(token, user);
    return token;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const { path, token } = splitToken(request);
    const user = token === undefined ? undefined : this.#users.get(token);
    if (user === undefined) {
      sendWhole(response, unauthorized());
      return;
    }
    const client = this.#clientOf(request.socket);
    const { activity } = this.#api.context;
    const owner = `request of ${client}`;
    activity.begin(owner);
    try {
      const answer = await this.#api.answer({
        method: request.method ?? 'GET',
        path,
        headers: headersOf(request),
        body,
        user,
        client,
        isAlive: () => !request.destroyed || request.complete,
      });
      send(response, answer);
    } finally {
      activity.end(owner);
    }
  }

  #clientOf(socket: Socket): string {
    const known = this.#clients.get(socket);
    if (known !== undefined) return known;
    this.#connections += 1;
    const client = `connection-${this.#connections}`;
    this.#clients.set(socket, client);
    return client;
  }
}

/** The path below the API's root, and the token from the path or else from the header. */
function splitToken(request: IncomingMessage): {
  readonly path: string;
  readonly token: string | undefined;
} {
  const url = request.url ?? '/';
  if (url.startsWith(TOKEN_PREFIX)) {
    const end = url.indexOf('/', TOKEN_PREFIX.length);
    if (end > 0) return { path: url.slice(end), token: url.slice(TOKEN_PREFIX.length, end) };
  }
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  return { path: url, token };
}

function portOf(address: AddressInfo | string | null): number {
  if (typeof address === 'object' && address !== null) return address.port;
  throw new Error(`Cannot read the port of the listener: its address is ${String(address)}`);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) throw new Error('Cannot read a request body that is not bytes');
    size += chunk.length;
    if (size <= READ_LIMIT) chunks.push(chunk);
  }
  const isBinary = request.headers['content-type']?.startsWith(PROTOBUF_TYPE) === true;
  return Buffer.concat(chunks).toString(isBinary ? 'latin1' : 'utf8');
}

function headersOf(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of ['accept', 'content-type', 'user-agent']) {
    const value = request.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return headers;
}

function unauthorized(): WholeAnswer {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Unauthorized',
    reason: 'Unauthorized',
    code: 401,
  };
  const headers = { 'content-type': 'application/json' };
  return { kind: 'whole', status: 401, headers, body: [Buffer.from(JSON.stringify(status))] };
}

function send(response: ServerResponse, answer: ApiAnswer): void {
  switch (answer.kind) {
    case 'dropped':
      response.destroy();
      return;
    case 'watch':
      response.writeHead(answer.status, answer.headers);
      response.flushHeaders();
      pump(response, answer.session);
      return;
    default:
      sendWhole(response, answer);
  }
}

function sendWhole(response: ServerResponse, answer: WholeAnswer): void {
  // One buffer, one write: ten thousand small writes cost more than the copy.
  const body = Buffer.concat(answer.body);
  response.writeHead(answer.status, { ...answer.headers, 'content-length': String(body.length) });
  response.end(body);
}

/** Writes the lines of `session` as fast as the client reads them (LW-5). */
function pump(response: ServerResponse, session: WatchSession): void {
  let isBlocked = false;
  const flush = (): void => {
    if (isBlocked) return;
    const lines = session.take();
    if (lines.length > 0) {
      isBlocked = !response.write(Buffer.concat(lines.map(({ bytes }) => bytes)));
    }
    if (session.state === 'ended') response.end();
    if (session.state === 'broken') response.destroy();
  };
  response.on('drain', () => {
    isBlocked = false;
    flush();
  });
  response.on('close', () => session.close());
  Object.assign(session, { onReadable: flush });
  flush();
}
