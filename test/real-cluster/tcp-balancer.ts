/** One port in front of several servers, as a Service is in front of the pods that are ready. */
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Bytes with which a client ends the handshake of TLS, at most. */
const longestFinish = 256;

/** Hands each connection to one of its targets that takes it. */
export class TcpBalancer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Clients, by the port that they were handed to. */
  readonly #handed = new Map<Socket, number>();
  #targets: readonly number[] = [];
  /** Told of what goes through after the handshakes, before it is passed on: a request to a target, or its answer. */
  onData: (target: number, moment: 'asked' | 'answered') => void = () => undefined;

  private constructor() {
    this.#server = createServer((client) => this.#take(client));
  }

  /** Listens on `port` of 127.0.0.1. */
  static async listen(port: number): Promise<TcpBalancer> {
    const balancer = new TcpBalancer();
    await new Promise<void>((resolve, reject) => {
      balancer.#server.once('error', reject).listen(port, '127.0.0.1', () => resolve());
    });
    return balancer;
  }

  /** Ports on 127.0.0.1, the one that is asked first first: connections to others end. */
  set targets(targets: readonly number[]) {
    this.#targets = targets;
    for (const [client, port] of this.#handed) if (port !== targets[0]) client.destroy();
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #take(client: Socket): void {
    this.#keep(client);
    this.#join(client, this.#targets);
  }

  #join(client: Socket, [port, ...others]: readonly number[]): void {
    if (port === undefined) {
      client.destroy();
      return;
    }
    const server = connect(port, '127.0.0.1');
    this.#keep(server);
    const next = (): void => this.#join(client, others);
    server.once('error', next);
    server.once('connect', () => {
      server.off('error', next);
      this.#handed.set(client, port);
      this.#listen(port, { client, server });
      client.pipe(server).pipe(client);
      client.on('close', () => server.destroy());
      server.on('close', () => client.destroy());
    });
  }

  /** A client says hello, and ends the handshake; what it sends then asks something. */
  #listen(
    port: number,
    { client, server }: { readonly client: Socket; readonly server: Socket },
  ): void {
    const seen = { bytes: 0, isAsked: false };
    client.on('data', (chunk) => {
      seen.isAsked ||= seen.bytes > 0 && chunk.length > longestFinish;
      seen.bytes += chunk.length;
      if (seen.isAsked) this.onData(port, 'asked');
    });
    server.on('data', () => {
      if (seen.isAsked) this.onData(port, 'answered');
    });
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    // What breaks is closed, and who asked sees that.
    socket
      .on('error', () => undefined)
      .on('close', () => {
        this.#sockets.delete(socket);
        this.#handed.delete(socket);
      });
  }
}
