import type { Monotonic } from '#base/units.ts';

/** When the last deletion of each ZoneAwareUpdate left, as far as this process sent it. */
export class LastDeletions {
  readonly #sentAt = new Map<string, Monotonic>();

  /** Notes that a deletion of the update `key` leaves now. */
  sent(key: string, at: Monotonic): void {
    this.#sentAt.set(key, at);
  }

  /** Returns when the last one of `key` left; undefined: this process has sent none. */
  of(key: string): Monotonic | undefined {
    return this.#sentAt.get(key);
  }

  /** Forgets the update `key`, which is gone. */
  forget(key: string): void {
    this.#sentAt.delete(key);
  }
}
