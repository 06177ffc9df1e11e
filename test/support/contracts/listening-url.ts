import { once } from 'node:events';
import type { Server } from 'node:net';

/** Has `server` listen on any port of this host. @returns its URL */
export async function listeningUrl(server: Server): Promise<URL> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  return new URL(`http://127.0.0.1:${address.port}`);
}
