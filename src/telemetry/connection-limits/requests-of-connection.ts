import type { IncomingMessage, ServerResponse } from 'node:http';

/** Requests of one connection that are under way at once: so that no client takes the places of all others. */
export const mostOfConnection = 8;

/** Counts the requests of each connection until they are answered. */
export class RequestsOfConnection {
  readonly #underWay = new WeakMap<object, number>();

  /**
   * Counts one more, if there may be one; once there may not, the connection is to end.
   *
   * @returns whether there may
   */
  enter({ socket }: IncomingMessage, outgoing: ServerResponse): boolean {
    const count = this.#underWay.get(socket) ?? 0;
    if (count >= mostOfConnection) {
      this.#underWay.set(socket, Number.POSITIVE_INFINITY);
      return false;
    }
    this.#underWay.set(socket, count + 1);
    outgoing.on('close', () => {
      this.#underWay.set(socket, (this.#underWay.get(socket) ?? 1) - 1);
    });
    return true;
  }

  /** Reports whether an earlier request of this one's connection was one too many: no answer to this one could be sent. */
  isRefused({ socket }: IncomingMessage): boolean {
    return this.#underWay.get(socket) === Number.POSITIVE_INFINITY;
  }
}
