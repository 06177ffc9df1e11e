import type { Clock } from '#base/clock.ts';
import type { Monotonic } from '#base/units.ts';
import type { Freshness } from '#kubernetes/informer/freshness.ts';

/** A write of ours that its cache does not show yet. */
export interface UnseenWrite {
  readonly revision: string;
  readonly answeredAt: Monotonic;
}

/**
 * Writes of ours until the cache shows them: an object is left alone until then, as whatever is decided on its former
 * state has been done, or rests on what is not so any more.
 */
export class UnseenWrites {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #freshness: Pick<Freshness, 'hasSeen'>;
  /** Keyed by the uid of the object. */
  readonly #written = new Map<string, UnseenWrite>();

  /** @param freshness of the cache that is to show them */
  constructor(clock: Pick<Clock, 'monotonic'>, freshness: Pick<Freshness, 'hasSeen'>) {
    this.#clock = clock;
    this.#freshness = freshness;
  }

  /** Notes that the server stored a write of the object `uid` at `revision`. */
  answered(uid: string, revision: string): void {
    // Of an object that is gone nothing asks any more.
    for (const [each, { revision: shown }] of this.#written) {
      if (!this.#freshness.hasSeen(shown)) break;
      this.#written.delete(each);
    }
    this.#written.delete(uid);
    this.#written.set(uid, { revision, answeredAt: this.#clock.monotonic() });
  }

  /** Returns the last write of the object `uid`, while the cache does not show it; forgets what it does. */
  of(uid: string): UnseenWrite | undefined {
    const written = this.#written.get(uid);
    if (written === undefined || !this.#freshness.hasSeen(written.revision)) return written;
    this.#written.delete(uid);
    return undefined;
  }
}
