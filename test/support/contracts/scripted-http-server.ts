import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listeningUrl } from './listening-url.ts';
import type { Behaviour, ReceivedRequest, Script } from './transport-under-test.ts';

/** A real HTTP server on 127.0.0.1 that behaves as a {@link Script} says. */
export class ScriptedHttpServer {
  readonly received: ReceivedRequest[] = [];
  readonly #script: Script;
  readonly #server: Server;
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #written = new Map<string, number>();
  #connections = 0;

  constructor(script: Script) {
    this.#script = script;
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.on('connection', () => (this.#connections += 1));
  }

  /** Starts listening. @returns the server's URL */
  listen(): Promise<URL> {
    return listeningUrl(this.#server);
  }

  get connections(): number {
    return this.#connections;
  }

  written(path: string): number {
    return this.#written.get(path) ?? 0;
  }

  arrived(path: string): Promise<void> {
    return this.#wait(`arrived ${path}`);
  }

  left(path: string): Promise<void> {
    return this.#wait(`left ${path}`);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk as Uint8Array));
    const url = request.url ?? '';
    const path = url.split('?', 1)[0] ?? url;
    this.received.push({
      method: request.method ?? '',
      path: url,
      headers: request.headers as Record<string, string | undefined>,
      body: Buffer.concat(chunks).toString(),
    });
    response.on('close', () => {
      if (!response.writableFinished) this.#wake(`left ${path}`);
    });
    this.#wake(`arrived ${path}`);
    await this.#behave(this.#script[path], response, path);
  }

  async #behave(
    behaviour: Behaviour | undefined,
    response: ServerResponse,
    path: string,
  ): Promise<void> {
    switch (behaviour?.kind) {
      case 'answer':
        response.writeHead(behaviour.status, behaviour.headers).end(behaviour.body);
        return;
      case 'stream':
        await this.#stream(behaviour, response);
        return;
      case 'flood':
        await this.#flood(behaviour.bytes, response, path);
        return;
      case 'reset':
        response.destroy();
        return;
      case 'short':
        response.writeHead(200, { 'content-length': String(behaviour.announced) });
        response.write(behaviour.body, () => response.destroy());
        return;
      case 'hang':
        return;
      default:
        response.writeHead(404).end();
    }
  }

  async #stream(
    behaviour: Extract<Behaviour, { kind: 'stream' }>,
    response: ServerResponse,
  ): Promise<void> {
    response.writeHead(200).flushHeaders();
    for (const chunk of behaviour.chunks) {
      await new Promise<void>((resolve) => response.write(chunk, () => resolve()));
    }
    if (behaviour.ending === 'end') response.end();
    if (behaviour.ending === 'reset') response.destroy();
  }

  async #flood(bytes: number, response: ServerResponse, path: string): Promise<void> {
    const chunk = Buffer.alloc(65_536);
    response.writeHead(200);
    for (let sent = 0; sent < bytes && !response.destroyed; sent += chunk.length) {
      await new Promise<void>((resolve) => response.write(chunk, () => resolve()));
      this.#written.set(path, this.written(path) + chunk.length);
    }
    response.end();
  }

  async #wait(key: string): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), resolve]);
    });
  }

  #wake(key: string): void {
    const waiting = this.#waiting.get(key) ?? [];
    this.#waiting.delete(key);
    for (const resolve of waiting) resolve();
  }
}
