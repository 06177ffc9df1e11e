/** Returns the owner as which the requests of `client` are counted. */
export function requestsOf(client: string): string {
  return `request of ${client}`;
}

/**
 * Counts what is under way in one simulated world: requests in flight and watch events not yet consumed (CK-3).
 *
 * Virtual time may move only while the count is zero. Work that waits for virtual time itself must not be
 * counted meanwhile: see {@link Activity.parked}.
 */
export class Activity {
  #underWay = 0;
  #moves = 0;
  readonly #owners = new Map<string, number>();

  /** Returns things under way now. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Grows with every begin and end; equal readings mean that nothing moved in between. */
  get moves(): number {
    return this.#moves;
  }

  /** Notes that something owned by `owner` starts; pair with {@link end}. */
  begin(owner: string): void {
    this.#underWay += 1;
    this.#moves += 1;
    this.#owners.set(owner, (this.#owners.get(owner) ?? 0) + 1);
  }

  /** Ends `count` things of `owner`. @throws {Error} when more ended than began, which is a bug of the caller */
  end(owner: string, count = 1): void {
    const left = (this.#owners.get(owner) ?? 0) - count;
    if (left < 0) {
      throw new Error(
        `Cannot end activity of ${owner} as ${left + count} are under way, not ${count}`,
      );
    }
    if (left === 0) this.#owners.delete(owner);
    else this.#owners.set(owner, left);
    this.#underWay -= count;
    this.#moves += 1;
  }

  /** Awaits `wait`, which depends on virtual time, without counting one thing of `owner` meanwhile. */
  async parked<T>(owner: string, wait: Promise<T>): Promise<T> {
    this.end(owner);
    try {
      return await wait;
    } finally {
      this.begin(owner);
    }
  }

  /** Returns what is under way, such as `2 x request of client-1`, for the report of a leaked await. */
  describe(): string {
    return [...this.#owners].map(([owner, count]) => `${count} x ${owner}`).join(', ');
  }
}
