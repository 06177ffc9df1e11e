import type { Because } from '#base/because.ts';
import type { Monotonic } from '#base/units.ts';
import type { ResourceType } from '../resource-type.ts';
import type { Freshness } from './freshness.ts';
import type { Absence } from './type-presence.ts';
import type { Staleness } from './view-staleness.ts';

/** What every projected object keeps, flat, so that ten thousand of them stay small. */
export interface Cached {
  /** Empty for cluster-scoped types. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** A change of the cache. Handlers look at which object it is about, never act on the kind of change. */
export type Change<T extends Cached> =
  | { readonly kind: 'added'; readonly object: T }
  | { readonly kind: 'updated'; readonly object: T; readonly old: T }
  /** `object` is the last state known; after a relist it may be older than the last state that existed. */
  | { readonly kind: 'deleted'; readonly object: T }
  /** Nothing changed; the safety resync passes every object by once. */
  | { readonly kind: 'resync'; readonly object: T };

/** Why an informer has something to report. */
export type InformerReason =
  | 'ListFailed'
  | 'WatchFailed'
  | 'HandlerFailed'
  | 'ProjectionFailed'
  /** The list or the watch works again. */
  | 'Recovered'
  /** The resource type is not installed, and need not be. */
  | 'TypeAbsent'
  /** For 30 s the view has not been kept up to date; see {@link Informer.staleness}. */
  | 'ViewNotFresh'
  /** The view is kept up to date again. */
  | 'ViewFresh';

/**
 * What went wrong in an informer; it goes on. A list or watch that keeps failing is reported once, until the failure
 * changes or ends; a failing handler or projection each time.
 */
export interface InformerProblem extends Because<InformerReason> {
  readonly cause?: unknown;
}

/** Synchronous reads of an informer's cache; everything it returns is deeply frozen. */
export interface Lister<T extends Cached> {
  readonly size: number;
  /** Returns the object, or undefined when the cache has none. `namespace` is empty for cluster-scoped types. */
  get(namespace: string, name: string): T | undefined;
  /** Returns all objects, in no order. */
  list(): Iterable<T>;
  /** Returns objects that the indexer `index` filed under `value`, in no order. @throws for an index that does not exist */
  by(index: string, value: string): readonly T[];
}

/**
 * A cache of one resource type, kept up to date by list and watch, with client-go's meaning.
 *
 * It never goes back to an older version of an object, survives 410 in all forms, broken and silent
 * watches, and shows through `freshness` how old its view can be at the most.
 */
export interface Informer<T extends Cached> {
  readonly type: ResourceType;
  readonly lister: Lister<T>;
  readonly freshness: Freshness;
  /** Whether the first list is complete in the cache; of a type that was absent and has appeared, the first since then. */
  readonly hasSynced: boolean;
  /** Whether the server does not serve the type; the cache is then empty, and synced where that is allowed. */
  readonly isAbsent: boolean;
  /** Since when that is proven; undefined exactly while `isAbsent` is false. A view must not rest on an old proof (D-51). */
  readonly absence: Absence | undefined;
  /** Resolves when `hasSynced` first becomes true; rejects when `run` ends before. */
  readonly synced: Promise<void>;
  /** Calls `handler` after each change of the cache, in order. A handler that throws is reported, and the others still run. */
  onChange(handler: (change: Change<T>) => void): void;
  /**
   * Why, and since when, the cache may lack what the server has: lists or watches that failed, or were not answered, for
   * 30 s, or something known to be newer that was not delivered for as long, or a {@link probe} without an answer.
   * Undefined while the view is kept up to date; silence alone is no reason (D-54).
   */
  readonly staleness: Staleness | undefined;
  /** When a {@link probe} is next worth a request; in the past when it is now. */
  readonly nextProbe: Monotonic;
  /** Calls `handler` after `hasSynced` or `isAbsent` changed, and when `staleness` begins or ends. */
  onState(handler: () => void): void;
  /**
   * Asks the server now whether it serves the type, if it is absent; all that ask at the same time share one request.
   * Where it has appeared, its list begins at once, and `hasSynced` is false until that is complete.
   *
   * @throws what the client throws when the answer shows neither; `absence` then stays as old as it is
   * @throws the reason of `signal` when that aborts first
   */
  look(signal: AbortSignal): Promise<void>;
  /**
   * Asks whether the server answers at all, for a view that is needed now and has delivered nothing for 20 s: one small
   * consistent read, which ends in 10 s. Asks nothing before {@link nextProbe} or while the type is absent; all that ask
   * at the same time share one request. What comes of it is in `staleness` and `freshness`; a failure is not thrown.
   *
   * @throws {RevisionWentBackError} when the answer is older than what had been seen (D-6)
   * @throws the reason of `signal` when that aborts first
   */
  probe(signal: AbortSignal): Promise<void>;
  /** Lists and watches until `signal` aborts; then resolves. Rejects only for a {@link Freshness} violation, a read that is older than the last (D-6). */
  run(signal: AbortSignal): Promise<void>;
}
