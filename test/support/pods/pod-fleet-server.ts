import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '#base/clock.ts';
import type { PodFleet } from './pod-fleet.ts';

/**
 * A {@link PodFleet} behind one HTTP proxy on 127.0.0.1 that routes by Host (D-32): give its URL to the operator as
 * `HTTP_PROXY`, and each pod's name leads here, without DNS, on either cluster.
 */
export class PodFleetServer {
  readonly #fleet: PodFleet;
  readonly #clock: Clock;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #mostConnections = 0;
  #onQuiet: (() => void)[] = [];

  constructor(fleet: PodFleet, clock: Clock) {
    this.#fleet = fleet;
    this.#clock = clock;
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.on('connection', (socket) => this.#connected(socket));
  }

  /** Starts listening. @returns the value for `HTTP_PROXY` */
  async listen(): Promise<URL> {
    // Thousands of calls may begin at once; what the backlog cannot hold is dropped, and tried again seconds later.
    this.#server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 });
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no TCP address');
    return new URL(`http://127.0.0.1:${address.port}`);
  }

  /** Returns how many connections are open. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Returns the most connections that were open at once. */
  get mostConnections(): number {
    return this.#mostConnections;
  }

  /** Resolves when no connection is open. */
  async quiet(): Promise<void> {
    if (this.#sockets.size === 0) return;
    await new Promise<void>((resolve) => this.#onQuiet.push(resolve));
  }

  /** Ends all connections and stops listening. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #connected(socket: Socket): void {
    this.#sockets.add(socket);
    this.#mostConnections = Math.max(this.#mostConnections, this.#sockets.size);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (this.#sockets.size > 0) return;
      const waiting = this.#onQuiet;
      this.#onQuiet = [];
      for (const resolve of waiting) resolve();
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const host = request.headers.host ?? '';
    const { method = '', url = '/' } = request;
    // The request line of a proxied call holds the whole URL.
    const path = url.replace(/^https?:\/\/[^/?#]*/i, '');
    const headers: Record<string, string | undefined> = {};
    for (const [name, value] of Object.entries(request.headers)) headers[name] = String(value);
    const { reply, closed } = this.#fleet.receive({ method, host, path, headers, body });
    response.on('close', closed);
    if (reply.kind === 'never') return;
    const answer = (): void => {
      if (reply.kind === 'reset') response.destroy();
      else response.writeHead(reply.status, reply.headers).end(reply.body);
    };
    if (reply.after <= 0) answer();
    else {
      const timer = this.#clock.timer(reply.after, answer);
      response.on('close', () => timer.cancel());
    }
  }
}
