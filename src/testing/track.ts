import type { Instant } from '#base/units.ts';

/** One value over time: which version held at which revision. Revisions only grow. */
export class Track<Value> {
  readonly #revisions: number[] = [];
  readonly #times: Instant[] = [];
  readonly #values: (Value | undefined)[] = [];

  /** From `point.revision` on the value is `value`; undefined: there is none. */
  push(point: { readonly revision: number; readonly at: Instant }, value: Value | undefined): void {
    this.#revisions.push(point.revision);
    this.#times.push(point.at);
    this.#values.push(value);
  }

  /** The value at `revision`; undefined when there was none. */
  at(revision: number): Value | undefined {
    return this.#values[this.#countUpTo(revision) - 1];
  }

  /** When the first version after `revision` began; undefined while there is none. */
  timeAfter(revision: number): Instant | undefined {
    return this.#times[this.#countUpTo(revision)];
  }

  /** Whether the newest version up to `revision` began after `at`. */
  hasLater(revision: number, at: Instant): boolean {
    const time = this.#times[this.#countUpTo(revision) - 1];
    return time !== undefined && time > at;
  }

  #countUpTo(revision: number): number {
    const last = this.#revisions.at(-1);
    if (last === undefined || last <= revision) return this.#revisions.length;
    let low = 0;
    let high = this.#revisions.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#revisions[middle] ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
