import type { KubernetesObject } from '../object.ts';
import { compareRevisions, newerRevision } from '../revision.ts';
import type { Cached, Change, Lister } from './informer.ts';

/** Files objects under values; see `Lister.by`. */
export type Indexers<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

/** Options of {@link ObjectCache}. */
export interface ObjectCacheOptions<T extends Cached> {
  readonly project: (raw: KubernetesObject) => T;
  readonly indexers: Indexers<T>;
  /** Whether the informer has a label selector: an object that was DELETED may then come back under its uid. */
  readonly isSelective: boolean;
  /** Called when `project` threw for `raw`, which then counts as not there. */
  readonly refused: (raw: KubernetesObject, cause: unknown) => void;
}

interface Index<T> {
  readonly valuesOf: (object: T) => readonly string[];
  readonly filed: Map<string, Bucket<T>>;
}

/** What is filed under one value. */
interface Bucket<T> {
  /** Keyed by `keyOf`. */
  readonly objects: Map<string, T>;
  /** The objects as they were last asked for; undefined once they have changed. */
  list: readonly T[] | undefined;
}

const maxTombstones = 10_000;
const nothing: readonly never[] = Object.freeze([]);

/**
 * The objects of one informer with their indexes: projected, deeply frozen, never older than before.
 *
 * Each method returns the changes that it made, for the handlers.
 */
export class ObjectCache<T extends Cached> implements Lister<T> {
  readonly #options: ObjectCacheOptions<T>;
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, Index<T>>();
  /** Revisions of recent deletions by key: a late event must not bring an object back. Oldest first. */
  readonly #tombstones = new Map<string, string>();
  /** The list under way has not shown these yet. */
  #missing: Set<string> | undefined;
  /** The revision of the last whole list, which contained all that is not newer. */
  #floor: string | undefined;

  constructor(options: ObjectCacheOptions<T>) {
    this.#options = options;
    for (const [name, valuesOf] of Object.entries(options.indexers)) {
      this.#indexes.set(name, { valuesOf, filed: new Map() });
    }
  }

  get size(): number {
    return this.#objects.size;
  }

  get(namespace: string, name: string): T | undefined {
    return this.#objects.get(`${namespace}/${name}`);
  }

  list(): Iterable<T> {
    return this.#objects.values();
  }

  by(index: string, value: string): readonly T[] {
    const found = this.#indexes.get(index);
    if (found === undefined) {
      const known = [...this.#indexes.keys()].join(', ');
      throw new Error(`Cannot read index "${index}" as this informer has only: ${known || 'none'}`);
    }
    const bucket = found.filed.get(value);
    if (bucket === undefined) return nothing;
    bucket.list ??= Object.freeze([...bucket.objects.values()]);
    return bucket.list;
  }

  /** Begins a list: objects that it does not show until {@link endList} are gone. Ends a list that broke off. */
  beginList(): void {
    this.#missing = new Set(this.#objects.keys());
    this.#floor = undefined;
  }

  /** Ends the list begun last, which is whole and was read at `revision`. */
  endList(revision: string): readonly Change<T>[] {
    const changes: Change<T>[] = [];
    for (const key of this.#missing ?? []) changes.push(...this.#drop(key));
    this.#missing = undefined;
    this.#floor = revision;
    this.#tombstones.clear();
    return changes;
  }

  /** Takes in that `raw` exists, by a list, or by a watch event of either kind. */
  upsert(raw: KubernetesObject): readonly Change<T>[] {
    const key = keyOf(raw);
    this.#missing?.delete(key);
    const old = this.#objects.get(key);
    if (this.#isOld(raw, key, old)) return [];
    const object = this.#project(raw);
    if (object === undefined) return this.#drop(key);
    this.#objects.set(key, object);
    for (const index of this.#indexes.values()) refile(index, { key, old, object });
    if (old === undefined) return [{ kind: 'added', object }];
    if (old.uid === object.uid) return [{ kind: 'updated', object, old }];
    return [
      { kind: 'deleted', object: old },
      { kind: 'added', object },
    ];
  }

  /** Takes in that `raw` was deleted, or left the selector; an event about an earlier object of that name changes nothing. */
  remove(raw: KubernetesObject): readonly Change<T>[] {
    const key = keyOf(raw);
    const old = this.#objects.get(key);
    const revision = raw.metadata.resourceVersion;
    const isOlder = old !== undefined && compareRevisions(revision, old.resourceVersion) < 0;
    // A stale body still reports the end of its uid, which never comes back.
    const isFinal = !this.#options.isSelective && raw.metadata.uid === old?.uid;
    if (isOlder && !isFinal) return [];
    this.#missing?.delete(key);
    this.#bury(key, isOlder ? old.resourceVersion : revision);
    return this.#drop(key);
  }

  /** Drops every object: the type is not served any more. */
  clear(): readonly Change<T>[] {
    this.beginList();
    const changes = this.endList('0');
    this.#floor = undefined;
    return changes;
  }

  #isOld(raw: KubernetesObject, key: string, old: T | undefined): boolean {
    const revision = raw.metadata.resourceVersion;
    if (this.#floor !== undefined && compareRevisions(revision, this.#floor) <= 0) return true;
    const known = old?.resourceVersion ?? this.#tombstones.get(key);
    return known !== undefined && compareRevisions(revision, known) <= 0;
  }

  #project(raw: KubernetesObject): T | undefined {
    try {
      return deepFreeze(this.#options.project(raw));
    } catch (cause) {
      this.#options.refused(raw, cause);
      return undefined;
    }
  }

  #drop(key: string): readonly Change<T>[] {
    const object = this.#objects.get(key);
    if (object === undefined) return [];
    this.#objects.delete(key);
    for (const index of this.#indexes.values()) {
      for (const value of index.valuesOf(object)) unfile(index, value, key);
    }
    return [{ kind: 'deleted', object }];
  }

  #bury(key: string, revision: string): void {
    const newest = newerRevision(this.#tombstones.get(key), revision);
    this.#tombstones.delete(key);
    this.#tombstones.set(key, newest);
    if (this.#tombstones.size <= maxTombstones) return;
    const [oldest] = this.#tombstones.keys();
    if (oldest !== undefined) this.#tombstones.delete(oldest);
  }
}

function keyOf({ metadata }: KubernetesObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

function refile<T>(
  index: Index<T>,
  entry: { readonly key: string; readonly old: T | undefined; readonly object: T },
): void {
  const values = index.valuesOf(entry.object);
  for (const value of entry.old === undefined ? [] : index.valuesOf(entry.old)) {
    if (!values.includes(value)) unfile(index, value, entry.key);
  }
  for (const value of values) {
    let bucket = index.filed.get(value);
    if (bucket === undefined) {
      bucket = { objects: new Map(), list: undefined };
      index.filed.set(value, bucket);
    }
    bucket.objects.set(entry.key, entry.object);
    bucket.list = undefined;
  }
}

function unfile<T>(index: Index<T>, value: string, key: string): void {
  const bucket = index.filed.get(value);
  if (bucket === undefined) return;
  bucket.objects.delete(key);
  bucket.list = undefined;
  if (bucket.objects.size === 0) index.filed.delete(value);
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}
