import { type Monotonic, monotonic, seconds } from '#base/units.ts';

/** Reads that go out at once. */
const burst = 5;
/** After that, one in this time. */
const spacing = seconds(15);

/**
 * How soon a resource is read again of which only the status has moved: at once a few times, then ever so often, so that
 * a writer of its status that never rests does not have it read for ever. What it asks for is not held up by this.
 */
export class StatusReads {
  /** When the reads so far have been paid off, by id of the resource. */
  readonly #paidAt = new Map<string, Monotonic>();

  /** Returns when the resource `id` may be read next; a time gone by means now. */
  nextAt(id: string): Monotonic {
    const paidAt = this.#paidAt.get(id) ?? 0;
    return monotonic(paidAt - (burst - 1) * spacing);
  }

  /** Notes that the resource `id` is read at `now`. */
  read(id: string, now: Monotonic): void {
    const paidAt = Math.max(this.#paidAt.get(id) ?? now, now);
    this.#paidAt.set(id, monotonic(paidAt + spacing));
  }
}
