import { connect, type Socket } from 'node:net';
import { createServer, type Server } from 'node:tls';
import type { KeyAndCertificate } from './self-signed.ts';

/** An HTTPS address in front of an HTTP listener of this process. */
export interface TlsFront {
  readonly url: string;
  /** Ends all connections. */
  close(): Promise<void>;
}

/**
 * Takes TLS off on 127.0.0.1 and passes the bytes on to `target`.
 *
 * @param options.port a free one when undefined
 * @throws {Error} when the port is taken
 */
export async function openTlsFront(
  target: URL,
  options: KeyAndCertificate & { readonly port: number | undefined },
): Promise<TlsFront> {
  const sockets = new Set<Socket>();
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer({ key: options.key, cert: options.cert }, (outer) => {
    const inner = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    // The end of one side, orderly or not, is the end of the other: the sockets say no more than that.
    for (const [from, to] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      track(from);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  server.on('connection', (socket: Socket) => {
    socket.setNoDelay(true);
    track(socket);
  });
  await listening(server, options.port ?? 0);
  return {
    url: `https://127.0.0.1:${portOf(server)}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (typeof address === 'object' && address !== null) return address.port;
  throw new Error(`Cannot read the port of the listener: its address is ${String(address)}`);
}
