/** Gives a place back; calling it again does nothing. */
export type Leave = () => void;

interface Lane {
  inside: number;
  /** Kept in order of arrival. */
  readonly waiting: Set<() => void>;
}

/**
 * At most `width` holders at a time for each key, first come, first served; keys do not wait for one another (D-24).
 * A key that is not used takes no memory.
 */
export class CallLanes {
  readonly #width: number;
  readonly #lanes = new Map<string, Lane>();

  constructor(width: number) {
    this.#width = width;
  }

  /** Waits for a place. @returns how to give it back; undefined when `signal` aborted first */
  async enter(key: string, signal: AbortSignal): Promise<Leave | undefined> {
    if (signal.aborted) return undefined;
    const lane = this.#lanes.get(key) ?? { inside: 0, waiting: new Set() };
    this.#lanes.set(key, lane);
    if (lane.inside < this.#width) {
      lane.inside += 1;
      return this.#leave(key, lane);
    }
    const isIn = await waitIn(lane, signal);
    return isIn ? this.#leave(key, lane) : undefined;
  }

  #leave(key: string, lane: Lane): Leave {
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      const [next] = lane.waiting;
      if (next !== undefined) {
        // The place goes from hand to hand: a caller in between does not get it.
        lane.waiting.delete(next);
        next();
        return;
      }
      lane.inside -= 1;
      if (lane.inside === 0) this.#lanes.delete(key);
    };
  }
}

/** Waits for a place. @returns whether one was handed over before `signal` aborted */
function waitIn(lane: Lane, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const take = (): void => {
      signal.removeEventListener('abort', giveUp);
      resolve(true);
    };
    const giveUp = (): void => {
      lane.waiting.delete(take);
      resolve(false);
    };
    lane.waiting.add(take);
    signal.addEventListener('abort', giveUp, { once: true });
  });
}
