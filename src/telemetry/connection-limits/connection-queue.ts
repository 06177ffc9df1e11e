import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '#base/clock.ts';
import { getOrAdd } from '#base/get-or-add.ts';
import { type Millis, millis, seconds } from '#base/units.ts';
import { addressOf, ConnectionPlaces, type Graces } from './connection-places.ts';

/** What {@link ConnectionQueue} works with. */
export interface ConnectionQueueOptions {
  readonly clock: Clock;
  /** Connections that are served at once. @default 256 */
  readonly most?: number;
  /** Connections that wait at once. @default 1,024 */
  readonly mostWaiting?: number;
}

/** An honest client says hello at once, and then needs a few round trips. */
const graces: Graces = { silent: millis(500), asking: seconds(3), idle: seconds(1) };
/** How long a connection is served while others wait. */
const turn: Millis = seconds(2);
/** How often those who wait look for a place without being notified. */
const pause: Millis = millis(250);
/** They have no TLS yet: a few KB each, as opposed to 100 KB and more. */
const mostWaitingAtOnce = 1_024;

/** A connection that was taken, and of which nothing is read. */
interface Waiting {
  readonly socket: Socket;
  readonly begin: () => void;
}

/**
 * Has connections wait that find no place, as if they had not been taken yet: who evicts comes to no error by that. One that
 * is served while others wait is reported with an answer to come again after its turn. Who waits is served in order, those first
 * whose address has the fewest places: no client keeps others out by the number of connections alone.
 */
export class ConnectionQueue {
  readonly #clock: Clock;
  readonly #places: ConnectionPlaces;
  readonly #mostWaiting: number;
  /** Keyed by address, the longest there first. */
  readonly #waiting = new Map<string, Set<Waiting>>();
  #count = 0;
  #isServing = false;
  #timer: Timer | undefined;

  constructor({ clock, most, mostWaiting = mostWaitingAtOnce }: ConnectionQueueOptions) {
    this.#clock = clock;
    this.#mostWaiting = mostWaiting;
    this.#places = new ConnectionPlaces({ clock, graces, ...(most !== undefined && { most }) });
    this.#places.onLeave = () => this.#serve();
  }

  /** Calls `begin` once there is a place for `socket`, of which nothing must have been read. */
  add(socket: Socket, begin: () => void): void {
    const waiting = { socket, begin };
    const address = addressOf(socket);
    getOrAdd(this.#waiting, address, () => new Set()).add(waiting);
    this.#count += 1;
    // To leave while one waits is no error; later ones are for TLS to see, too.
    socket.on('error', () => undefined);
    socket.once('close', () => this.#forget(address, waiting));
    this.#serve();
    if (this.#count > this.#mostWaiting) this.#turnAway();
  }

  /** Notes a request of a connection that is served. */
  readonly noteRequest: ConnectionPlaces['noteRequest'] = (incoming, outgoing) =>
    this.#places.noteRequest(incoming, outgoing);

  /** Reports whether the connection of a request had its turn, and others wait. */
  isToYield(incoming: IncomingMessage): boolean {
    return this.#count > 0 && this.#places.ageOf(incoming) >= turn;
  }

  /** Ends the connections from which nothing has come, and all that wait. */
  endSilent(): void {
    this.#timer?.cancel();
    const all = [...this.#waiting.values()].flatMap((each) => [...each]);
    for (const { socket } of all) socket.destroy();
    this.#places.endSilent();
  }

  #serve(): void {
    // One that gives way leaves while another takes its place.
    if (this.#isServing) return;
    this.#isServing = true;
    try {
      for (let first = this.#first(); first !== undefined; first = this.#first()) {
        const { address, waiting } = first;
        if (!this.#places.take(waiting.socket)) break;
        this.#forget(address, waiting);
        if (!waiting.socket.destroyed) waiting.begin();
      }
    } finally {
      this.#isServing = false;
    }
    this.#arm();
  }

  /** Returns the one that waits longest of the address with the fewest places. */
  #first(): { readonly address: string; readonly waiting: Waiting } | undefined {
    const [address] = [...this.#waiting.keys()].toSorted(
      (one, other) => this.#places.heldBy(one) - this.#places.heldBy(other),
    );
    if (address === undefined) return undefined;
    const [waiting] = this.#waiting.get(address) ?? [];
    return waiting && { address, waiting };
  }

  /** Ends the one that waits longest of the address of which most wait. */
  #turnAway(): void {
    const [most] = [...this.#waiting.values()].toSorted((one, other) => other.size - one.size);
    const [longest] = most ?? [];
    longest?.socket.destroy();
  }

  #forget(address: string, waiting: Waiting): void {
    const ofAddress = this.#waiting.get(address);
    if (ofAddress?.delete(waiting) !== true) return;
    this.#count -= 1;
    if (ofAddress.size === 0) this.#waiting.delete(address);
  }

  #arm(): void {
    if (this.#count === 0 || this.#timer !== undefined) return;
    const look = (): void => {
      this.#timer = undefined;
      this.#serve();
    };
    this.#timer = this.#clock.timer(pause, look, {
      owner: 'waiting connections',
      background: true,
    });
  }
}
