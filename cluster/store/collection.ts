import type { JsonObject } from '#base/json.ts';
import type { Change } from './change.ts';
import { History } from './history.ts';
import { SortedVersions } from './sorted-versions.ts';
import type { Version } from './version.ts';
import { VersionIndex } from './version-index.ts';

/** Called with each change, in order, synchronously at the commit. */
export type ChangeListener = (change: Change) => void;

/** The objects of one resource, their log and their indexes. */
export class Collection {
  /** `plural` or `plural.group`. */
  readonly resource: string;
  readonly history: History;
  readonly #versions = new Map<string, Version>();
  readonly #indexes = new Map<string, VersionIndex>();
  readonly #listeners = new Set<ChangeListener>();
  readonly #sorted = new SortedVersions();
  #past: { readonly revision: number; readonly versions: readonly Version[] } | undefined;

  constructor(resource: string, startRevision: number) {
    this.resource = resource;
    this.history = new History(startRevision);
  }

  get size(): number {
    return this.#versions.size;
  }

  get(key: string): Version | undefined {
    return this.#versions.get(key);
  }

  /** Returns the versions in key order; with `namespace` only those in it (ST-2, ST-7). */
  list(namespace = ''): readonly Version[] {
    if (namespace === '') return this.#sorted.range('');
    // '0' is the character after '/': the first key behind all of this namespace.
    return this.#sorted.range(`${namespace}/`, `${namespace}0`);
  }

  /**
   * Returns the versions filed under `value` by the index `name`, in key order; `keysOf` says where an object is filed and
   * is used only when the index is asked for the first time.
   */
  indexed(
    index: { readonly name: string; readonly keysOf: (object: JsonObject) => readonly string[] },
    value: string,
  ): readonly Version[] {
    let known = this.#indexes.get(index.name);
    if (known === undefined) {
      known = new VersionIndex(index.keysOf);
      for (const version of this.#versions.values()) known.add(version);
      this.#indexes.set(index.name, known);
    }
    return known.get(value);
  }

  /** Returns the state at `revision`, rebuilt by undoing the log; undefined when it no longer reaches back (ST-5). */
  at(revision: number, namespace = ''): readonly Version[] | undefined {
    if (revision < this.history.forgottenTo) return undefined;
    if (this.#past?.revision !== revision) {
      this.#past = { revision, versions: this.#undoTo(revision) };
    }
    const { versions } = this.#past;
    if (namespace === '') return versions;
    return versions.filter(({ key }) => key.startsWith(`${namespace}/`));
  }

  /** Stores a change and notifies the listeners. */
  apply(change: Change): void {
    const { before, after, key } = change;
    if (after === undefined) {
      this.#versions.delete(key);
      this.#sorted.delete(key);
    } else {
      this.#versions.set(key, after);
      this.#sorted.set(after);
    }
    for (const index of this.#indexes.values()) index.replace(before, after);
    this.history.append(change);
    for (const listener of this.#listeners) listener(change);
  }

  /** Listens to changes. @returns a function that ends the listening */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  #undoTo(revision: number): readonly Version[] {
    const undone = this.history.since(revision);
    if (undone.length === 0) return this.#sorted.range('');
    const versions = new Map(this.#versions);
    for (const { key, before } of undone.toReversed()) {
      if (before === undefined) versions.delete(key);
      else versions.set(key, before);
    }
    return [...versions.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  }
}
