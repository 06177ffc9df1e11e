import type { Socket } from 'node:net';
import { causeOf } from '#kubernetes/transport/http-failure.ts';
import { request } from './http-request.ts';

/** Where a tunnel leads, and what its proxy is asked with. */
export interface Tunnel {
  /** Host and port of the pod. */
  readonly place: string;
  /** Host and port of the proxy. */
  readonly proxy: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Has the proxy at the other end of `socket` open a tunnel, which is what `socket` is from then on.
 *
 * @throws {Error} when the proxy does not open it
 */
export async function openTunnel(socket: Socket, tunnel: Tunnel): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const { place, proxy, headers } = tunnel;
  const asked = request({
    method: 'CONNECT',
    path: place,
    headers: { host: place, connection: 'close', ...headers },
    createConnection: () => socket,
  });
  asked.on('error', (error) => {
    reject(new Error(`the proxy ${proxy} opens no tunnel: ${causeOf(error)}`));
  });
  asked.once('connect', ({ statusCode }, _, head) => {
    // Not dropped: a pod that speaks first has TLS fail at once, where without these bytes it would wait.
    if (head.length > 0) socket.unshift(head);
    if (statusCode === 200) resolve();
    else reject(new Error(`the proxy ${proxy} answered CONNECT with ${statusCode}`));
  });
  asked.end();
  await promise;
}
