/** Lets at most a fixed number of writes be under way; the rest wait in order. */
export class WriteLimit {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(width: number) {
    this.#free = width;
  }

  /** Runs `write` when its turn comes; passes on what it returns or throws. */
  async run<T>(write: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await write();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
