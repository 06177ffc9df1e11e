/** How much of something may go on at once; nothing waits for it (D-30). */
export class ConcurrencyLimit {
  readonly #most: number;
  #count = 0;

  /** @param most how many may hold it at once */
  constructor(most: number) {
    this.#most = most;
  }

  /** Returns how to release it, once; undefined where as many hold it as may. */
  acquire(): (() => void) | undefined {
    if (this.#count >= this.#most) return undefined;
    this.#count += 1;
    let isHeld = true;
    return () => {
      if (isHeld) this.#count -= 1;
      isHeld = false;
    };
  }
}
