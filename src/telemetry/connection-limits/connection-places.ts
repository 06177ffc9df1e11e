import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '#base/clock.ts';
import { type Millis, type Monotonic, millis } from '#base/units.ts';

/** Connections that a server keeps at once: scrapers, probes and API servers have a few each. */
const maxConnections = 256;

/** What {@link ConnectionPlaces} work with. */
export interface ConnectionPlacesOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** @default 256 */
  readonly most?: number;
  /** How long one keeps its place from newcomers. @default not at all */
  readonly graces?: Graces;
}

/** How long a connection keeps its place after something was asked or answered on it last. */
export interface Graces {
  /** Nothing has come from it, at all or since. */
  readonly silent: Millis;
  /** It agrees on TLS, or asks. */
  readonly asking: Millis;
  /** It was answered. */
  readonly idle: Millis;
}

const noGraces: Graces = { silent: millis(0), asking: millis(0), idle: millis(0) };

/** One connection. */
interface Place {
  readonly peer: string;
  readonly address: string;
  readonly socket: Socket;
  readonly since: Monotonic;
  touchedAt: Monotonic;
  /** What had come from it when that was last looked at, and when that was first seen. */
  bytes: number;
  cameAt: Monotonic;
  /** Whether it has answered all that it was asked, and something at all. */
  isIdle: boolean;
  /** Requests that have wholly arrived, and are not answered. */
  answering: number;
}

/**
 * Bounds the connections of a server without turning newcomers away: one that comes to a full server takes the place
 * of the one on which nothing was asked or answered for longest, whether it has agreed on TLS or not. A client that holds
 * connections and asks nothing, or never ends asking, thus keeps no client out; an API server whose idle connection was
 * taken opens another.
 */
export class ConnectionPlaces {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #most: number;
  readonly #graces: Graces;
  /** Keyed by peer; the longest untouched first. A socket and the TLS that is spoken over it have the same peer. */
  readonly #places = new Map<string, Place>();
  /** How many places each address has that has any. */
  readonly #held = new Map<string, number>();
  /** Called when one has left. */
  onLeave: () => void = () => undefined;

  constructor({ clock, most = maxConnections, graces = noGraces }: ConnectionPlacesOptions) {
    this.#clock = clock;
    this.#most = most;
    this.#graces = graces;
  }

  /** Gives a new connection a place; ends it where none can be had. */
  add(socket: Socket): void {
    if (!this.take(socket)) socket.destroy();
  }

  /**
   * Gives a new connection a place, if one can be had: while all are being answered, or in their grace, one whose address
   * has more places than the newcomer's gives way to it, and no other. @returns whether there is nothing to wait for
   */
  take(socket: Socket): boolean {
    const peer = peerOf(socket);
    if (peer === undefined) {
      socket.destroy();
      return true;
    }
    const address = addressOf(socket);
    if (!this.#hasRoom(address)) return false;
    const now = this.#clock.monotonic();
    const times = { since: now, touchedAt: now, cameAt: now };
    const state = { bytes: socket.bytesRead, isIdle: false, answering: 0 };
    const place: Place = { peer, address, socket, ...times, ...state };
    this.#places.set(peer, place);
    this.#held.set(address, this.heldBy(address) + 1);
    socket.once('close', () => {
      this.#leave(place);
      this.onLeave();
    });
    return true;
  }

  /** Returns how many places `address` has. */
  heldBy(address: string): number {
    return this.#held.get(address) ?? 0;
  }

  /** Returns how long the connection of a request has had its place. */
  ageOf(incoming: IncomingMessage): Millis {
    const now = this.#clock.monotonic();
    return millis(now - (this.#places.get(peerOf(incoming.socket) ?? '')?.since ?? now));
  }

  /** Notes a request: its connection is kept from when the request has wholly arrived until it is answered. */
  noteRequest(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const place = this.#places.get(peerOf(incoming.socket) ?? '');
    if (place === undefined) return;
    this.#touch(place);
    place.isIdle = false;
    let counted = 0;
    let isOver = false;
    incoming.on('end', () => {
      if (isOver) return;
      counted = 1;
      place.answering += 1;
    });
    outgoing.on('close', () => {
      isOver = true;
      place.answering -= counted;
      place.isIdle = place.answering === 0;
      this.#touch(place);
    });
  }

  /** Ends the connections from which nothing has come: a server that closes has no client to wait for there. */
  endSilent(): void {
    for (const { socket } of this.#places.values()) {
      if (socket.bytesRead === 0) socket.destroy();
    }
  }

  #hasRoom(address: string): boolean {
    if (this.#places.size < this.#most) return true;
    for (const place of this.#places.values()) {
      if (place.answering > 0 || !this.#givesWay(place, address)) continue;
      this.#leave(place);
      place.socket.destroy();
      return true;
    }
    return false;
  }

  #givesWay(place: Place, newcomer: string): boolean {
    return !this.#isInGrace(place) || this.heldBy(place.address) > this.heldBy(newcomer) + 1;
  }

  /** One that agrees on TLS, or asks, has to go on with it: a hello alone is as good as silence. */
  #isInGrace(place: Place): boolean {
    const { socket, isIdle, touchedAt } = place;
    const { silent, asking, idle } = this.#graces;
    const now = this.#clock.monotonic();
    if (isIdle) return now - touchedAt < idle;
    if (socket.bytesRead !== place.bytes) {
      place.bytes = socket.bytesRead;
      place.cameAt = now;
    }
    return now - place.cameAt < silent && now - touchedAt < asking;
  }

  #touch(place: Place): void {
    if (this.#places.get(place.peer) !== place) return;
    place.touchedAt = this.#clock.monotonic();
    place.cameAt = place.touchedAt;
    this.#places.delete(place.peer);
    this.#places.set(place.peer, place);
  }

  #leave(place: Place): void {
    if (this.#places.get(place.peer) !== place) return;
    this.#places.delete(place.peer);
    const left = this.heldBy(place.address) - 1;
    if (left > 0) this.#held.set(place.address, left);
    else this.#held.delete(place.address);
  }
}

/** Returns who is at the other end; undefined when no client is any more. */
function peerOf({ remoteAddress, remotePort }: Socket): string | undefined {
  return remotePort === undefined ? undefined : `${remoteAddress} ${remotePort}`;
}

/** Returns where the other end is. */
export function addressOf({ remoteAddress }: Socket): string {
  return remoteAddress ?? '';
}
