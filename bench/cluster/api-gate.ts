import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a port of 127.0.0.1 that can be shut: then its connections end, and there is nobody to connect to. */
export class ApiGate {
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  constructor(target: number) {
    this.#target = target;
  }

  /** Where it listens, once it was opened. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens, at the port that it had before. @throws where that is taken */
  async open(): Promise<void> {
    if (this.#server !== undefined) return;
    const server = createServer((socket) => this.#pass(socket));
    this.#server = server;
    server.listen({ port: this.#port, host: '127.0.0.1' });
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
  }

  async shut(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(server, 'close');
  }

  #pass(socket: Socket): void {
    const onward = connect({ port: this.#target, host: '127.0.0.1' });
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      this.#sockets.add(one);
      one.setNoDelay(true);
      one.pipe(other);
      // Each end goes with the other; what was lost is for the operator to find out.
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }
}
