import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';

const answer = JSON.stringify({
  status: 'success',
  data: { resultType: 'vector', result: [{ metric: {}, value: [1_700_000_000, '1'] }] },
});

/** A Prometheus over HTTP that finds data, and counts what it is asked and over how many connections. */
export class CountingPrometheus {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  /** When each query was asked, in ms of the process. */
  readonly #askedAt = new Map<string, number[]>();
  #opened = 0;
  #asked = 0;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.url = `http://127.0.0.1:${port}`;
    this.#sockets = new Set();
    server.on('connection', (socket) => {
      this.#opened += 1;
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    server.on('request', (request: IncomingMessage, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.#note(`${request.url}${Buffer.concat(chunks).toString('utf8')}`);
        response.setHeader('content-type', 'application/json');
        response.end(answer);
      });
    });
  }

  static async start(): Promise<CountingPrometheus> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('Cannot find its port');
    return new CountingPrometheus(server, address.port);
  }

  /** Checks since {@link reset}. */
  get asked(): number {
    return this.#asked;
  }

  /** Different queries since {@link reset}. */
  get resources(): number {
    return this.#askedAt.size;
  }

  /** Connections that were opened since {@link reset}, and those that are open now. */
  get connections(): { readonly opened: number; readonly open: number } {
    return { opened: this.#opened, open: this.#sockets.size };
  }

  /** Times from one check to the next of the same query, in ms. */
  spans(): readonly number[] {
    return [...this.#askedAt.values()].flatMap((times) =>
      times.slice(1).map((time, at) => time - (times[at] ?? time)),
    );
  }

  /** When a query that contains `text`, as it is sent, was answered, in ms of the process. */
  answersTo(text: string): readonly number[] {
    const found = [...this.#askedAt].find(([query]) => query.includes(text));
    return found?.[1] ?? [];
  }

  /** Counts anew. */
  reset(): void {
    this.#askedAt.clear();
    this.#opened = 0;
    this.#asked = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #note(query: string): void {
    const times = this.#askedAt.get(query) ?? [];
    times.push(performance.now());
    this.#askedAt.set(query, times);
    this.#asked += 1;
  }
}
