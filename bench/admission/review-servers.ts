import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { shippedNodeFlags } from '../operator/node-flags.ts';
import { PostConnection, type ReviewServer } from './post-connection.ts';

/** A server of reviews in a process of its own. */
export interface StartedServer {
  readonly child: ChildProcess;
  readonly server: ReviewServer;
}

/** Starts the program `file` of this folder, and waits until it listens. */
export async function startServer(
  file: string,
  ...args: readonly string[]
): Promise<StartedServer> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [...shippedNodeFlags(), path, ...args], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, 'line')) as [string];
  return { child, server: JSON.parse(line) as ReviewServer };
}

/** Ends a process that goes with its standard input. */
export async function stop(child: ChildProcess): Promise<void> {
  child.stdin?.end();
  await once(child, 'exit');
}

/** Handshakes under way at once: a server gives each a few seconds, and a thousand take longer. */
const handshakes = 50;

/**
 * Opens `count` connections to `server`. @throws what a handshake fails with
 *
 * @param first posted on each at once: a server soon ends a connection that never had a request
 */
export async function connectTo(
  server: ReviewServer,
  count: number,
  first?: Buffer,
): Promise<readonly PostConnection[]> {
  const open: PostConnection[] = [];
  while (open.length < count) {
    const more = Math.min(handshakes, count - open.length);
    const opening = Array.from({ length: more }, () => PostConnection.overTls(server));
    const opened = await Promise.all(opening);
    if (first !== undefined) await Promise.all(opened.map((each) => each.post(first)));
    open.push(...opened);
  }
  return open;
}
