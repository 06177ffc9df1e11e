/** Finds ports for servers that are given their port, and may be started on it again. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';

/** Below it are ports of services that a machine may run. */
const lowestPort = 10_000;

/**
 * Returns ports of 127.0.0.1 that no client listens on now, below those that the kernel gives to
 * outgoing connections: a program that is restarted on its port finds no connection there.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const bound = await Promise.all(Array.from({ length: count }, async () => bindAnyPort()));
  await Promise.all(bound.map(({ server }) => once(server.close(), 'close')));
  return bound.map(({ port }) => port);
}

async function bindAnyPort(): Promise<{ readonly server: Server; readonly port: number }> {
  const below = await firstEphemeralPort();
  for (;;) {
    const port = randomInt(lowestPort, below);
    const server = createServer().listen(port, '127.0.0.1');
    if (await isListening(server)) return { server, port };
  }
}

/** Reports whether the server got its port; any other fault than a taken port is thrown. */
async function isListening(server: Server): Promise<boolean> {
  try {
    await once(server, 'listening');
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false;
    throw error;
  }
}

async function firstEphemeralPort(): Promise<number> {
  const range = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
  const [first = 0] = range.trim().split(/\s+/).map(Number);
  if (first > lowestPort) return first;
  throw new Error(`Outgoing connections use all ports from ${first} on; none is left for servers`);
}

/** Returns one such port. */
export async function freePort(): Promise<number> {
  const { server, port } = await bindAnyPort();
  await once(server.close(), 'close');
  return port;
}
