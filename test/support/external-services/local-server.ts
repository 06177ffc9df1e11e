import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

/** An HTTP server on an address of this host, whose connections end with it. */
export class LocalServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #made = 0;

  /** @param tls key, certificate, and whose certificates are asked for; http where it is undefined */
  constructor(listener: RequestListener, tls?: ServerOptions) {
    this.#server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
    this.#server.on('connection', (socket: Socket) => {
      this.#made += 1;
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('tlsClientError', () => undefined);
  }

  /** Starts listening. @returns the port */
  async listen(address = '127.0.0.1', port = 0): Promise<number> {
    this.#server.listen(port, address);
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** Returns how many connections have been made, ended or not. */
  get connections(): number {
    return this.#made;
  }

  /** Returns how many connections are open. */
  get openConnections(): number {
    return this.#sockets.size;
  }

  /** Ends all connections and stops listening. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

/** Returns the whole body of `request`. */
export async function bodyOf(request: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString();
}
