import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/** Tells undici of a connection that was made, or why it was not. */
export type Connected = Parameters<buildConnector.connector>[1];

/**
 * Tells `done` once, when `socket` is connected, or fails before.
 *
 * @returns has it fail for a reason that the socket has no event for
 */
export function tellConnected(
  socket: Socket,
  isSecure: boolean,
  done: Connected,
): (error: Error) => void {
  let isTold = false;
  const tell = (error: Error | null): void => {
    if (isTold) return;
    isTold = true;
    if (error === null) done(null, socket);
    else done(error, null);
  };
  // Stays for good: what happens to the socket after this is for undici to report, but must find a listener.
  socket.on('error', tell);
  socket.once(isSecure ? 'secureConnect' : 'connect', () => tell(null));
  return tell;
}
