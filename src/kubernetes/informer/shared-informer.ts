import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Millis, Monotonic } from '#base/units.ts';
import type { Client } from '../client.ts';
import { scopeOf, subjectOf } from '../list-watch/list-scope.ts';
import type { WatchChangeType } from '../list-watch/watch-decoder.ts';
import type { SpecReading } from '../list-watch/without-spec.ts';
import type { KubernetesObject } from '../object.ts';
import type { ResourceType } from '../resource-type.ts';
import { RevisionWentBackError } from '../revision.ts';
import { SharedRequest } from '../shared-request.ts';
import type { Cached, Change, Informer, InformerProblem, Lister } from './informer.ts';
import { InformerFreshness } from './informer-freshness.ts';
import { type Indexers, ObjectCache } from './object-cache.ts';
import { type ListedAt, Reflector, type ReflectorTarget } from './reflector.ts';
import { resyncRegularly } from './resync.ts';
import { type Absence, TypePresence } from './type-presence.ts';
import { probePatience, type Staleness, ViewStaleness } from './view-staleness.ts';

/** Options of {@link createInformer}. */
export interface InformerOptions<T extends Cached> {
  readonly client: Client;
  readonly clock: Clock;
  readonly type: ResourceType;
  /** @default all namespaces, or a cluster-scoped type */
  readonly namespace?: string;
  /** @default all objects */
  readonly labelSelector?: string;
  /** Keeps of an object what is needed; what it returns is frozen, deeply. Throws for no object: see ProjectionFailed. */
  readonly project: (raw: KubernetesObject) => T;
  readonly indexers: Indexers<T>;
  /** Passes every object by the handlers this often. @default never */
  readonly resync?: Millis;
  readonly report: (problem: InformerProblem) => void;
  /** Whether a type that is not installed counts as one without objects. @default false */
  readonly isAbsentAllowed?: boolean;
  /** Whether `project` reads the spec; pods whose spec is not read are cheaper by most of their size; `node-name`: of the spec of a pod that alone. @default true */
  readonly isSpecRead?: SpecReading;
}

/** Returns an informer that does nothing yet; add the handlers, then `run` it once. */
export function createInformer<T extends Cached>(options: InformerOptions<T>): Informer<T> {
  return new SharedInformer(options);
}

class SharedInformer<T extends Cached> implements Informer<T>, ReflectorTarget {
  readonly type: ResourceType;
  readonly freshness: InformerFreshness;
  readonly synced: Promise<void>;
  readonly #options: InformerOptions<T>;
  readonly #cache: ObjectCache<T>;
  readonly #sync = Promise.withResolvers<void>();
  readonly #handlers: ((change: Change<T>) => void)[] = [];
  readonly #stateHandlers: (() => void)[] = [];
  readonly #presence: TypePresence;
  readonly #reflector: Reflector;
  readonly #staleness: ViewStaleness;
  readonly #probing = new SharedRequest(() => this.#probe());
  #hasSynced = false;
  #isListing = false;

  constructor(options: InformerOptions<T>) {
    this.type = options.type;
    this.#options = options;
    this.#staleness = new ViewStaleness({
      clock: options.clock,
      subject: subjectOf(options),
      owedSince: () => this.freshness.owedSince,
      changed: (staleness) => this.#staleChanged(staleness),
    });
    this.freshness = new InformerFreshness(options.clock, options.type.plural, () =>
      this.#staleness.check(),
    );
    this.synced = this.#sync.promise;
    // The rejection reaches those that await `synced`; it is no unhandled one when none does.
    this.synced.catch(() => undefined);
    this.#cache = new ObjectCache({
      project: options.project,
      indexers: options.indexers,
      isSelective: options.labelSelector !== undefined,
      refused: (raw, cause) => this.#refused(raw, cause),
    });
    const { isAbsentAllowed = false } = options;
    this.#reflector = new Reflector({ ...options, isAbsentAllowed, target: this });
    this.#presence = new TypePresence({
      ...options,
      scope: scopeOf(options),
      appeared: () => {
        this.#appeared();
        this.#reflector.hurry();
      },
    });
  }

  get lister(): Lister<T> {
    return this.#cache;
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  get isAbsent(): boolean {
    return this.#presence.absence !== undefined;
  }

  get absence(): Absence | undefined {
    return this.#presence.absence;
  }

  get staleness(): Staleness | undefined {
    return this.#staleness.current;
  }

  get nextProbe(): Monotonic {
    return this.#staleness.nextProbe;
  }

  onChange(handler: (change: Change<T>) => void): void {
    this.#handlers.push(handler);
  }

  onState(handler: () => void): void {
    this.#stateHandlers.push(handler);
  }

  look(signal: AbortSignal): Promise<void> {
    return this.#presence.look(signal);
  }

  async probe(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const isDue = this.#options.clock.monotonic() >= this.nextProbe;
    if (this.isAbsent || !(isDue || this.#probing.isUnderWay)) return;
    await this.#probing.join(signal);
  }

  async run(signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    const resyncs = this.#resync(AbortSignal.any([signal, ended.signal]));
    try {
      await this.#reflector.run(signal);
    } finally {
      ended.abort();
      this.#staleness.stop();
      await resyncs;
      this.#sync.reject(
        new Error(`The informer of ${this.type.plural} ended before its first list`),
      );
    }
  }

  listBegan(): void {
    this.#isListing = true;
    this.#staleness.asked();
    this.freshness.reset();
    this.#cache.beginList();
  }

  watchBegan(): void {
    this.#staleness.asked();
  }

  watchOpened(): void {
    this.#staleness.opened();
  }

  failed(message: string): void {
    this.#staleness.failed(message);
  }

  changed(type: WatchChangeType, object: KubernetesObject): void {
    const changes = type === 'DELETED' ? this.#cache.remove(object) : this.#cache.upsert(object);
    const { resourceVersion } = object.metadata;
    if (this.#isListing && type === 'DELETED') this.freshness.removedWhileListing(resourceVersion);
    // Before the handlers run: to them, the cache contains what they are given.
    if (this.#isListing) this.#staleness.listing();
    else this.#delivered(resourceVersion);
    this.#tell(changes);
  }

  listEnded({ revision, sentAt, by }: ListedAt): void {
    if (by === 'streaming-list') this.freshness.listed(revision, sentAt);
    else this.freshness.consistentRead(revision, sentAt);
    this.#delivered(revision);
    this.#isListing = false;
    this.#presence.served(sentAt);
    this.#tell(this.#cache.endList(revision));
    this.#becameSynced();
  }

  progressed(revision: string): void {
    this.#delivered(revision);
  }

  absent(sentAt: Monotonic): void {
    const wasAbsent = this.isAbsent;
    if (!this.#presence.absent(sentAt)) return;
    this.#staleness.absent();
    this.freshness.reset();
    this.#tell(this.#cache.clear());
    this.#becameSynced(!wasAbsent);
  }

  served(sentAt: Monotonic): void {
    if (this.#presence.served(sentAt)) this.#appeared();
  }

  /** Notes that a type is there which was absent: the cache shows the whole of it once its list has ended. */
  #appeared(): void {
    this.#hasSynced = false;
    this.#stateChanged();
  }

  #becameSynced(isNews = !this.#hasSynced): void {
    this.#hasSynced = true;
    this.#sync.resolve();
    if (isNews) this.#stateChanged();
  }

  #delivered(revision: string): void {
    this.freshness.delivered(revision);
    this.#staleness.delivered();
  }

  #staleChanged(staleness: Staleness | undefined): void {
    const subject = subjectOf(this.#options);
    this.#options.report(
      staleness === undefined
        ? { reason: 'ViewFresh', message: `The view of ${subject} is kept up to date again` }
        : {
            reason: 'ViewNotFresh',
            message: `The view of ${subject} is not kept up to date: ${staleness.message}`,
          },
    );
    this.#stateChanged();
  }

  async #probe(): Promise<void> {
    const { client, clock, type } = this.#options;
    let sentAt = clock.monotonic();
    const beforeSend = (): void => {
      sentAt = clock.monotonic();
    };
    try {
      const query = { ...scopeOf(this.#options), limit: 1 };
      const list = await client.list(type, query, { beforeSend, answerWithin: probePatience });
      this.freshness.consistentRead(
        list.resourceVersion,
        sentAt,
        list.items[0]?.metadata.resourceVersion,
      );
      this.#staleness.probeAnswered();
    } catch (error) {
      if (error instanceof RevisionWentBackError) throw error;
      const why = errorOf(error).message;
      const message = `a read of ${subjectOf(this.#options)} failed: ${why}`;
      this.#staleness.probeFailed(sentAt, message);
    }
  }

  #stateChanged(): void {
    for (const handler of this.#stateHandlers) handler();
  }

  #tell(changes: readonly Change<T>[]): void {
    for (const change of changes) this.#tellOne(change);
  }

  #tellOne(change: Change<T>): void {
    for (const handler of this.#handlers) {
      try {
        handler(change);
      } catch (cause) {
        const { namespace, name } = change.object;
        const message = `A handler of ${this.type.plural} failed on "${namespace}/${name}": ${errorOf(cause).message}`;
        this.#options.report({ reason: 'HandlerFailed', message, cause });
      }
    }
  }

  #refused({ metadata }: KubernetesObject, cause: unknown): void {
    const name = `"${metadata.namespace ?? ''}/${metadata.name}"`;
    const message = `Cannot project ${this.type.kind} ${name}, which counts as missing: ${errorOf(cause).message}`;
    this.#options.report({ reason: 'ProjectionFailed', message, cause });
  }

  async #resync(signal: AbortSignal): Promise<void> {
    const { clock, resync } = this.#options;
    if (resync === undefined) return;
    const passing = {
      clock,
      interval: resync,
      owner: `resync of ${this.type.plural}`,
      objects: () => (this.#hasSynced ? this.#cache.list() : []),
      pass: (object: T) => this.#tellOne({ kind: 'resync', object }),
    };
    await resyncRegularly(passing, signal);
  }
}
