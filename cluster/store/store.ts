/**
 * What etcd is to a real server: versions, revisions, and the history that watches read. It knows no type; what may be
 * stored is decided by `rest/`.
 */
import type { JsonObject } from '#base/json.ts';
import { isSameJson, metadataOf } from '../json/json-fields.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { atRevision, Change } from './change.ts';
import { Collection } from './collection.ts';
import { Version } from './version.ts';

/** Revisions start between this and twice as much (ST-1: above 1000). */
const FIRST_REVISION = 1_001;

/** Revisions that the profile `sparse` leaves out at most, per write. */
const SPARSE_GAP = 3;

/** A write whose base is no longer what is stored; nothing was committed. */
export const STALE = Symbol('stale');

/** What is to be written, on top of the state that it was made from. */
export interface StoreWrite {
  readonly resource: string;
  readonly key: string;
  /** What the writer started from; undefined to create. */
  readonly before: Version | undefined;
  /** The new state, its resourceVersion being irrelevant; undefined to delete. */
  readonly after: JsonObject | undefined;
}

/** Options of {@link Store}. */
export interface StoreOptions {
  readonly random: SeededRandom;
  /** Wall-clock time in ms; dates the log. */
  readonly now: () => number;
  /** Whether revisions skip 0…3 per write. @default false */
  readonly isSparse?: boolean;
}

/** All objects of the cluster under one revision counter (ST-1). Knows nothing of HTTP, kinds or rules. */
export class Store {
  readonly #options: StoreOptions;
  readonly #collections = new Map<string, Collection>();
  readonly #start: number;
  #revision: number;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.#start = FIRST_REVISION + options.random.below(FIRST_REVISION);
    this.#revision = this.#start;
  }

  /** Returns the revision of the last commit of any resource. */
  get revision(): number {
    return this.#revision;
  }

  /** Returns the collection of `resource` (`plural` or `plural.group`), made on first use. */
  collection(resource: string): Collection {
    const known = this.#collections.get(resource);
    if (known !== undefined) return known;
    const made = new Collection(resource, this.#start);
    this.#collections.set(resource, made);
    return made;
  }

  /** Returns all collections that were ever used. */
  collections(): Iterable<Collection> {
    return this.#collections.values();
  }

  /**
   * Commits `write` in one step (ST-6).
   *
   * @returns the change; undefined when it would change nothing (ST-3); {@link STALE} when another write came first
   */
  commit(write: StoreWrite): Change | undefined | typeof STALE {
    const { before, after, key } = write;
    const collection = this.collection(write.resource);
    if (collection.get(key) !== before) return STALE;
    if (before !== undefined && after !== undefined && isSameState(before.object, after)) {
      return undefined;
    }
    if (before === undefined && after === undefined) return undefined;
    const revision = this.#nextRevision();
    const version = after && Version.frozen(key, atRevision(after, revision), revision);
    const change = new Change({ revision, at: this.#options.now(), before, after: version });
    collection.apply(change);
    return change;
  }

  /** Forgets the watch log of all resources up to `revision`, as etcd's compaction does. */
  compact(revision: number = this.#revision): void {
    for (const collection of this.#collections.values()) collection.history.forget(revision);
  }

  #nextRevision(): number {
    const gap = this.#options.isSparse === true ? this.#options.random.below(SPARSE_GAP + 1) : 0;
    this.#revision += 1 + gap;
    return this.#revision;
  }
}

function isSameState(before: JsonObject, after: JsonObject): boolean {
  const { resourceVersion } = metadataOf(before);
  const metadata = metadataOf(after);
  if (metadata['resourceVersion'] === resourceVersion) return isSameJson(before, after);
  return isSameJson(before, { ...after, metadata: { ...metadata, resourceVersion } });
}
