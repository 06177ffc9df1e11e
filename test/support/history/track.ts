import type { Instant } from '#base/units.ts';

/** One version of a value. */
export interface Version<Value> {
  /** Undefined: there was none. */
  readonly value: Value | undefined;
  readonly from: Instant;
  /** When the next one came; undefined while none did. */
  readonly until: Instant | undefined;
  readonly revision: number;
}

/** One value over time: which version held at which revision. Revisions only grow. */
export class Track<Value> {
  readonly #revisions: number[] = [];
  readonly #times: Instant[] = [];
  readonly #values: (Value | undefined)[] = [];

  /** Sets the value to `value` from `point.revision` on; undefined: there is none. */
  push(point: { readonly revision: number; readonly at: Instant }, value: Value | undefined): void {
    this.#revisions.push(point.revision);
    this.#times.push(point.at);
    this.#values.push(value);
  }

  /** Returns the value at `revision`; undefined when there was none. */
  at(revision: number): Value | undefined {
    return this.#values[this.#countUpTo(revision) - 1];
  }

  /** Returns the revision of the value at `revision`; undefined when there was none. */
  revisionOf(revision: number): number | undefined {
    const index = this.#countUpTo(revision) - 1;
    return this.#values[index] === undefined ? undefined : this.#revisions[index];
  }

  /** Returns when the first version after `revision` began; undefined while there is none. */
  timeAfter(revision: number): Instant | undefined {
    return this.#times[this.#countUpTo(revision)];
  }

  /** Reports whether the newest version up to `revision` began after `at`. */
  hasLater(revision: number, at: Instant): boolean {
    const time = this.#times[this.#countUpTo(revision) - 1];
    return time !== undefined && time > at;
  }

  /** Returns the revision of the newest version that began by `at`; 0 when there was none. */
  revisionAt(at: Instant): number {
    const index = this.#times.findLastIndex((time) => time <= at);
    return this.#revisions[index] ?? 0;
  }

  /**
   * Returns the versions up to `revision` that had not ended by `since`, newest first; `until` is undefined for the newest
   * of all.
   */
  *back(revision: number, since: Instant): Generator<Version<Value>> {
    for (let index = this.#countUpTo(revision) - 1; index >= 0; index -= 1) {
      const until = this.#times[index + 1];
      if (until !== undefined && until <= since) return;
      const [from, first] = [this.#times[index], this.#revisions[index]];
      if (from === undefined || first === undefined) return;
      yield { value: this.#values[index], from, until, revision: first };
    }
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
