import { connect, type TLSSocket } from 'node:tls';

/** Where the webhook server of a bench is. */
export interface ReviewServer {
  readonly port: number;
  readonly ca: string;
  /** Whom the certificate must name. @default `localhost` */
  readonly name?: string;
}

/**
 * One connection that posts the same bytes again and again. A general HTTP client takes as long as the server that is
 * measured; this one only looks for the end of each answer.
 */
export class ReviewConnection {
  readonly #socket: TLSSocket;
  readonly #request: Buffer;
  #waiting: PromiseWithResolvers<string> | undefined;
  #received = '';

  private constructor(socket: TLSSocket, request: Buffer) {
    this.#socket = socket;
    this.#request = request;
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#read(text));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('The connection ended')));
  }

  /** Connects, and verifies the certificate. */
  static async open(
    { port, ca, name = 'localhost' }: ReviewServer,
    request: Buffer,
  ): Promise<ReviewConnection> {
    const socket = connect({ port, host: '127.0.0.1', ca, servername: name });
    await new Promise<void>((resolve, reject) => {
      socket.once('secureConnect', resolve);
      socket.once('error', reject);
    });
    return new ReviewConnection(socket, request);
  }

  /** Posts once. @returns the body of the answer */
  post(): Promise<string> {
    this.#waiting = Promise.withResolvers<string>();
    this.#socket.write(this.#request);
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
    const body = this.#received.slice(headEnd + 4, end);
    this.#received = this.#received.slice(end);
    this.#waiting?.resolve(body);
  }
}

/** The bytes of a POST of `body`. */
export function postBytes(path: string, body: string): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    'content-type: application/json',
    'accept: application/json, */*',
    'user-agent: kube-apiserver-admission',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}
