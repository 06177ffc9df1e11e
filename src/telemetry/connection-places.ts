import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Connections that a server keeps at once: scrapers, probes and API servers have a few each. */
const maxConnections = 256;

/** One connection. */
interface Place {
  readonly peer: string;
  readonly socket: Socket;
  /** Requests that have wholly arrived, and are not answered. */
  answering: number;
}

/**
 * Bounds the connections of a server without turning newcomers away: one that comes to a full server takes the place
 * of the one on which nothing was asked or answered for longest, whether it has agreed on TLS or not. Whoever holds
 * connections and asks nothing, or never ends asking, thus keeps nobody out; an API server whose idle connection was
 * taken opens another.
 */
export class ConnectionPlaces {
  readonly #most: number;
  /** By peer; the longest untouched first. A socket and the TLS that is spoken over it have the same peer. */
  readonly #places = new Map<string, Place>();

  constructor(most: number = maxConnections) {
    this.#most = most;
  }

  /** Gives a new connection a place; ends it where all are being answered. */
  add(socket: Socket): void {
    const peer = peerOf(socket);
    if (peer === undefined || !this.#hasRoom()) return void socket.destroy();
    const place = { peer, socket, answering: 0 };
    this.#places.set(peer, place);
    socket.once('close', () => this.#leave(place));
  }

  /** Notes a request: its connection is kept from when the request has wholly arrived until it is answered. */
  noteRequest(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const place = this.#places.get(peerOf(incoming.socket) ?? '');
    if (place === undefined) return;
    this.#touch(place);
    let counted = 0;
    const count = (): void => {
      counted = 1;
      place.answering += 1;
    };
    incoming.once('end', count);
    outgoing.once('close', () => {
      incoming.off('end', count);
      place.answering -= counted;
      this.#touch(place);
    });
  }

  /** Ends the connections from which nothing has come: a server that closes knows nobody to wait for there. */
  endSilent(): void {
    for (const { socket } of this.#places.values()) {
      if (socket.bytesRead === 0) socket.destroy();
    }
  }

  #hasRoom(): boolean {
    if (this.#places.size < this.#most) return true;
    for (const place of this.#places.values()) {
      if (place.answering > 0) continue;
      this.#leave(place);
      place.socket.destroy();
      return true;
    }
    return false;
  }

  #touch(place: Place): void {
    if (!this.#leave(place)) return;
    this.#places.set(place.peer, place);
  }

  /** @returns whether it had a place still */
  #leave({ peer, socket }: Place): boolean {
    return this.#places.get(peer)?.socket === socket && this.#places.delete(peer);
  }
}

/** Who is at the other end; undefined when nobody is any more. */
function peerOf({ remoteAddress, remotePort }: Socket): string | undefined {
  return remotePort === undefined ? undefined : `${remoteAddress} ${remotePort}`;
}
