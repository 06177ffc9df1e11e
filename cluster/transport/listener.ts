import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { errorOf } from '#base/error-of.ts';
import { ADMINISTRATOR } from '../auth/administrator.ts';
import { impersonated } from '../auth/impersonation.ts';
import { requestsOf } from '../clock/activity.ts';
import type { Listener, User } from '../cluster.ts';
import { StatusError } from '../errors/status-error.ts';
import { errorAnswer } from '../rest/answers.ts';
import type { ApiServer } from '../rest/api-server.ts';
import { type ApiAnswer, PROTOBUF_TYPE, type WholeAnswer } from '../rest/request/api-request.ts';
import type { WatchSession } from '../watch/watch-session.ts';
import type { KeyAndCertificate } from './self-signed.ts';
import { WriteBuffers } from './write-buffers.ts';

/** Bodies above this are not even read to their end; the server's own limit answers for smaller ones (HT-7). */
const READ_LIMIT = 4 * 1024 * 1024;

/** Bodies up to this many bytes are sent in one write with their head. */
const SMALL_BODY = 16 * 1024;

/** Lines of a watch that go into one write: the client reads the first while the next are encoded. */
const LINES_PER_WRITE = 32;

/** Options of {@link HttpListener.open}. */
export interface ListenOptions {
  /** @default a free one */
  readonly port?: number;
  /** HTTPS with a certificate of its own, which the kubeconfig trusts. kubectl sends no token over plain HTTP. @default false */
  readonly isTls?: boolean;
}

/** Who sends on one connection, and as whose activity its requests count. */
interface Connection {
  readonly client: string;
  readonly owner: string;
}

/** Serves the API over HTTP on 127.0.0.1; who the user is follows from the bearer token (EM-2). */
export class HttpListener implements Listener {
  readonly url: string;
  readonly ca: string | undefined;
  readonly #server: Server;
  /** Keyed by the Authorization header that a client sends. */
  readonly #users = new Map<string, User>();
  readonly #senders = new WeakMap<Socket, Connection>();
  readonly #api: ApiServer;
  readonly #buffers = new WriteBuffers();
  #connections = 0;

  private constructor(api: ApiServer, server: Server, ca: string | undefined) {
    this.#api = api;
    this.#server = server;
    this.ca = ca;
    this.url = `${ca === undefined ? 'http' : 'https'}://127.0.0.1:${portOf(server.address())}`;
    server.on('request', (request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        response.destroy(errorOf(error));
      });
    });
  }

  /** Starts to listen. @throws {Error} when the port is taken */
  static async open(api: ApiServer, options: ListenOptions): Promise<HttpListener> {
    const settings = { keepAliveTimeout: 60_000, noDelay: true };
    const identity = options.isTls === true ? await newIdentity(api) : undefined;
    const server =
      identity === undefined
        ? createServer(settings)
        : createTlsServer({ ...settings, ...identity });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port ?? 0, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
    return new HttpListener(api, server, identity?.cert);
  }

  kubeconfig(user: User = ADMINISTRATOR): string {
    return [
      'apiVersion: v1',
      'kind: Config',
      'current-context: embedded',
      'clusters:',
      '- name: embedded',
      '  cluster:',
      `    server: ${this.url}`,
      this.ca === undefined
        ? // The official JavaScript client refuses plain HTTP without it; kubectl does not mind.
          '    insecure-skip-tls-verify: true'
        : `    certificate-authority-data: ${Buffer.from(this.ca).toString('base64')}`,
      'contexts:',
      '- name: embedded',
      '  context:',
      '    cluster: embedded',
      '    user: embedded',
      'users:',
      '- name: embedded',
      '  user:',
      `    token: ${this.token(user)}`,
      '',
    ].join('\n');
  }

  /** Returns a new bearer token of `user`. */
  token(user: User = ADMINISTRATOR): string {
    const token = randomBytes(30).toString('base64url');
    this.#users.set(`Bearer ${token}`, user);
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
    const known = this.#users.get(request.headers.authorization ?? '');
    if (known === undefined) {
      sendWhole(response, unauthorized());
      return;
    }
    const user = impersonated(known, request);
    if (user instanceof StatusError) {
      sendWhole(response, errorAnswer(user));
      return;
    }
    const { client, owner } = this.#connectionOf(request.socket);
    const { activity } = this.#api.context;
    activity.begin(owner);
    try {
      const answer = await this.#api.answer({
        method: request.method ?? 'GET',
        path: request.url ?? '/',
        headers: headersOf(request),
        body,
        user,
        client,
        isAlive: () => !request.destroyed || request.complete,
      });
      send(response, answer, this.#buffers);
    } finally {
      activity.end(owner);
    }
  }

  #connectionOf(socket: Socket): Connection {
    const known = this.#senders.get(socket);
    if (known !== undefined) return known;
    this.#connections += 1;
    const client = `connection-${this.#connections}`;
    const connection = { client, owner: requestsOf(client) };
    this.#senders.set(socket, connection);
    return connection;
  }
}

/** Loads the certificate library only where it is needed. */
async function newIdentity(api: ApiServer): Promise<KeyAndCertificate> {
  const { selfSigned } = await import('./self-signed.ts');
  return selfSigned(api.context.clock.now());
}

function portOf(address: AddressInfo | string | null): number {
  if (typeof address === 'object' && address !== null) return address.port;
  throw new Error(`Cannot read the port of the listener: its address is ${String(address)}`);
}

// By events: an asynchronous iterator over each request costs a tenth of what a small write costs in all.
function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= READ_LIMIT) chunks.push(chunk);
    });
    const isBinary = request.headers['content-type']?.startsWith(PROTOBUF_TYPE) === true;
    const encoding = isBinary ? 'latin1' : 'utf8';
    request.on('end', () => resolve(joined(chunks).toString(encoding)));
    request.on('error', reject);
    request.on('close', () => {
      // Comes after every request. An error is not made for all of them: its stack costs more than reading the body.
      if (!request.readableEnded) reject(new Error('the client left before its body was read'));
    });
  });
}

function headersOf(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of ['accept', 'content-type', 'user-agent']) {
    const value = request.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return headers;
}

function joined(parts: readonly Uint8Array[]): Buffer {
  const [first] = parts;
  return first !== undefined && parts.length === 1
    ? Buffer.from(first.buffer, first.byteOffset, first.length)
    : Buffer.concat(parts);
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

function send(response: ServerResponse, answer: ApiAnswer, buffers: WriteBuffers): void {
  switch (answer.kind) {
    case 'dropped':
      response.destroy();
      return;
    case 'watch':
      response.writeHead(answer.status, answer.headers);
      response.flushHeaders();
      pump(response, answer.session, buffers);
      return;
    default:
      sendWhole(response, answer);
  }
}

function sendWhole(response: ServerResponse, answer: WholeAnswer): void {
  // One buffer, one write: ten thousand small writes cost more than the copy.
  const body = joined(answer.body);
  response.writeHead(answer.status, { ...answer.headers, 'content-length': String(body.length) });
  // As bytes in a string, a small body goes out in the same write as the head: half the work of a small answer.
  if (body.length <= SMALL_BODY) response.end(body.toString('latin1'), 'latin1');
  else response.end(body);
}

/** Writes the lines of `session` as fast as the client reads them (LW-5). */
function pump(response: ServerResponse, session: WatchSession, buffers: WriteBuffers): void {
  let isBlocked = false;
  const flush = (): void => {
    while (!isBlocked && session.hasWaiting) {
      const parts = session.take(LINES_PER_WRITE).flatMap((line) => line.parts ?? line.bytes);
      isBlocked = !buffers.write(response, parts);
    }
    if (isBlocked) return;
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
