import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { listeningUrl } from '#support/contracts/listening-url.ts';

/** A server on 127.0.0.1 that answers the first bytes of each connection with the very bytes that it was given. */
export class RawServer {
  /** What each connection began with. */
  readonly heard: string[] = [];
  readonly #server: Server;

  /** @param ending whether the server ends the connection after it said that, or leaves it to the client */
  constructor(says: string, ending: 'ends' | 'waits') {
    this.#server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('close', () => this.#server.emit('left'));
      // Read on: only who reads sees the end of the connection.
      socket.resume();
      socket.once('data', (bytes) => {
        this.heard.push(String(bytes));
        if (ending === 'ends') socket.end(says);
        else socket.write(says, () => this.#server.emit('said'));
      });
    });
  }

  /** Starts listening. @returns the server's URL */
  listen(): Promise<URL> {
    return listeningUrl(this.#server);
  }

  /** Resolves when a connection has the bytes and waits. */
  async said(): Promise<void> {
    await once(this.#server, 'said');
  }

  /** Resolves when a connection has ended. */
  async left(): Promise<void> {
    await once(this.#server, 'left');
  }

  /** Takes no more connections, and resolves when the clients have ended all. */
  async quiet(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
