/**
 * Lets so many in at a time; the others wait, in their order.
 *
 * An agent of Node has such a queue, too, but one that stalls: where the connection for a waiting request cannot be made it
 * fails that one alone, and those behind it wait for ever; it makes connections for requests that were given up, and for
 * those of a transport that was closed.
 */
export class Places {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(most: number) {
    this.#free = most;
  }

  /**
   * Calls `enter` once there is a place, which {@link leave} gives back.
   *
   * @returns gives the wait up; undefined where there was a place at once
   */
  take(enter: () => void): (() => void) | undefined {
    if (this.#free === 0) {
      this.#waiting.add(enter);
      return () => void this.#waiting.delete(enter);
    }
    this.#free -= 1;
    enter();
    return undefined;
  }

  /** Gives a place to the one that waits longest. */
  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
