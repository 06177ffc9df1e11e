import type { JsonObject } from '#base/json.ts';
import type { Version } from './version.ts';

/** Versions of one resource filed under values that follow from the object (ST-7). */
export class VersionIndex {
  readonly #keysOf: (object: JsonObject) => readonly string[];
  readonly #filed = new Map<string, Map<string, Version>>();

  constructor(keysOf: (object: JsonObject) => readonly string[]) {
    this.#keysOf = keysOf;
  }

  /** Returns the versions under `value`, in key order. */
  get(value: string): readonly Version[] {
    const filed = this.#filed.get(value);
    if (filed === undefined) return [];
    return [...filed.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  add(version: Version): void {
    for (const value of this.#keysOf(version.object)) {
      const filed = this.#filed.get(value);
      if (filed === undefined) this.#filed.set(value, new Map([[version.key, version]]));
      else filed.set(version.key, version);
    }
  }

  replace(before: Version | undefined, after: Version | undefined): void {
    if (before !== undefined) this.#remove(before);
    if (after !== undefined) this.add(after);
  }

  #remove(version: Version): void {
    for (const value of this.#keysOf(version.object)) {
      const filed = this.#filed.get(value);
      filed?.delete(version.key);
      if (filed?.size === 0) this.#filed.delete(value);
    }
  }
}
