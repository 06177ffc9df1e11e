import type { Change } from './change.ts';

const MINIMUM_CAPACITY = 100;
const MAXIMUM_CAPACITY = 102_400;

/** While the oldest entry is younger than this, the log grows instead of forgetting, in ms. */
const KEPT_SPAN = 75_000;

/** The watch log of one resource: the newest changes, oldest first (ST-4). */
export class History {
  #entries: Change[] = [];
  #head = 0;
  #capacity = MINIMUM_CAPACITY;
  #forgottenTo: number;

  /** @param start the revision at which the log begins */
  constructor(start: number) {
    this.#forgottenTo = start;
  }

  /** Changes up to this revision are gone: a watch can start from here, not from before. */
  get forgottenTo(): number {
    return this.#forgottenTo;
  }

  append(change: Change): void {
    if (this.#entries.length - this.#head >= this.#capacity) this.#makeRoom(change.at);
    this.#entries.push(change);
  }

  /** Changes after `revision`, oldest first. Ask {@link forgottenTo} first whether they are all still there. */
  since(revision: number): readonly Change[] {
    let low = this.#head;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const entry = this.#entries[middle];
      if (entry !== undefined && entry.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#entries.slice(low);
  }

  /** Forgets everything up to `revision`. */
  forget(revision: number): void {
    if (revision <= this.#forgottenTo) return;
    this.#entries = [...this.since(revision)];
    this.#head = 0;
    this.#forgottenTo = revision;
  }

  #makeRoom(now: number): void {
    const oldest = this.#entries[this.#head];
    if (oldest === undefined) return;
    if (now - oldest.at < KEPT_SPAN && this.#capacity < MAXIMUM_CAPACITY) {
      this.#capacity *= 2;
      return;
    }
    this.#forgottenTo = oldest.revision;
    this.#head += 1;
    if (this.#head > this.#capacity) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
  }
}
