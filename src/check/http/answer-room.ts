/** Room that one answer takes while it is read. */
export interface AnswerPlace {
  /** Aborts when the answer is given up, as all together are too long and it is the longest. */
  readonly signal: AbortSignal;
  /** Counts what has come of the answer. May give up an answer, this one too. */
  take(bytes: number): void;
  /** Gives the place up: the answer was read, or will not be. */
  leave(): void;
}

/**
 * Bounds what answers that are read at the same time take together, from whichever server: each has a bound of its own, and any
 * number of servers may be asked at once. When they are too long, the longest is given up, so that servers which flood
 * take nothing from those which answer a check.
 */
export class AnswerRoom {
  readonly #size: number;
  readonly #places = new Set<Place>();
  #taken = 0;

  /** Starts empty. @param size in bytes */
  constructor(size: number) {
    this.#size = size;
  }

  /** Returns the bytes that are held now. */
  get taken(): number {
    return this.#taken;
  }

  /** Takes a place for an answer that is to be read; each call is followed by one {@link AnswerPlace.leave}. */
  enter(): AnswerPlace {
    const place = new Place();
    this.#places.add(place);
    return {
      signal: place.giving.signal,
      take: (bytes) => this.#take(place, bytes),
      leave: () => this.#leave(place),
    };
  }

  #take(place: Place, bytes: number): void {
    if (!this.#places.has(place)) return;
    place.bytes += bytes;
    this.#taken += bytes;
    while (this.#taken > this.#size) {
      const longest = this.#longest();
      if (longest === undefined) return;
      this.#leave(longest);
      longest.giving.abort(new Error('other answers take the room'));
    }
  }

  #leave(place: Place): void {
    if (this.#places.delete(place)) this.#taken -= place.bytes;
  }

  #longest(): Place | undefined {
    let longest: Place | undefined;
    for (const place of this.#places) {
      if (place.bytes > (longest?.bytes ?? 0)) longest = place;
    }
    return longest;
  }
}

class Place {
  bytes = 0;
  readonly giving = new AbortController();
}
