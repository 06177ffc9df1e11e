import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Where the webhook server of a bench is. */
export interface ReviewServer {
  readonly port: number;
  readonly ca: string;
  /** Whom the certificate must name. @default `localhost` */
  readonly name?: string;
}

/** What a POST is answered with. */
export interface PostAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * One connection that posts bytes as they are. A general HTTP client takes as long as the server that is measured; this
 * one only looks for the end of each answer.
 */
export class PostConnection {
  readonly #socket: Socket;
  #waiting: PromiseWithResolvers<PostAnswer> | undefined;
  #received = '';
  #isToEnd = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#read(text));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('The connection ended')));
  }

  /** Connects to a port of 127.0.0.1. */
  static async plain(port: number): Promise<PostConnection> {
    const socket = connect({ port, host: '127.0.0.1' });
    await once(socket, 'connect');
    return new PostConnection(socket);
  }

  /** Connects over TLS, and verifies the certificate. */
  static async overTls({ port, ca, name = 'localhost' }: ReviewServer): Promise<PostConnection> {
    const socket = connectTls({ port, host: '127.0.0.1', ca, servername: name });
    await once(socket, 'secureConnect');
    return new PostConnection(socket);
  }

  /** Whether neither side has ended it, or said so. */
  get isOpen(): boolean {
    return this.#socket.writable && !this.#isToEnd;
  }

  /** Posts `request` (see {@link postBytes}), one at a time. */
  post(request: Buffer): Promise<PostAnswer> {
    this.#waiting = Promise.withResolvers<PostAnswer>();
    if (this.isOpen) this.#socket.write(request);
    else this.#waiting.reject(new Error('The connection has ended'));
    return this.#waiting.promise;
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(this.#received)?.[1] ?? 0);
    const end = headEnd + 4 + length;
    if (this.#received.length < end) return;
    this.#isToEnd ||= /\r\nconnection: close\r\n/i.test(this.#received.slice(0, headEnd + 2));
    // `HTTP/1.1 201 Created`
    const status = Number(this.#received.slice(9, 12));
    const body = this.#received.slice(headEnd + 4, end);
    this.#received = this.#received.slice(end);
    this.#waiting?.resolve({ status, body });
  }
}

/** The bytes of a POST of `body`, which is JSON. */
export function postBytes(
  path: string,
  body: string,
  headers: Readonly<Record<string, string>>,
): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    'content-type: application/json',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** The bytes of a review as an API server sends it. */
export function reviewBytes(path: string, body: string): Buffer {
  const accept = 'application/json, */*';
  return postBytes(path, body, { accept, 'user-agent': 'kube-apiserver-admission' });
}
