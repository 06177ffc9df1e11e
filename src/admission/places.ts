/** A bounded number of places that are never waited for (D-30). */
export class Places {
  readonly #size: number;
  #taken = 0;

  /** @param size how many may be taken at once */
  constructor(size: number) {
    this.#size = size;
  }

  /** Places that are taken. */
  get taken(): number {
    return this.#taken;
  }

  /** Takes a place. @returns how to give it back, once; undefined when there is none */
  take(): (() => void) | undefined {
    if (this.#taken >= this.#size) return undefined;
    this.#taken += 1;
    let isTaken = true;
    return () => {
      if (isTaken) this.#taken -= 1;
      isTaken = false;
    };
  }
}
