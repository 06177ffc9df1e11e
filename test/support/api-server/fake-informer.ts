import type { Clock } from '#base/clock.ts';
import { type Monotonic, monotonic } from '#base/units.ts';
import type { Cached, Change, Informer } from '#kubernetes/informer/informer.ts';
import { InformerFreshness } from '#kubernetes/informer/informer-freshness.ts';
import { type Indexers, ObjectCache } from '#kubernetes/informer/object-cache.ts';
import type { Absence } from '#kubernetes/informer/type-presence.ts';
import type { Staleness } from '#kubernetes/informer/view-staleness.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';

/** What a {@link FakeInformer} is made of. */
export interface FakeInformerOptions<T extends Cached> {
  readonly clock: Clock;
  readonly type: ResourceType;
  readonly project: (raw: KubernetesObject) => T;
  readonly indexers: Indexers<T>;
}

/** An informer that a test says what it sees, with the real cache and the real freshness. */
export class FakeInformer<T extends Cached> implements Informer<T> {
  readonly type: ResourceType;
  readonly lister: ObjectCache<T>;
  readonly freshness: InformerFreshness;
  /** Set by a test where the first list is not complete; see {@link tellState}. */
  hasSynced = true;
  /** Set by a test where the type is to be absent. */
  absence: Absence | undefined;
  readonly synced = Promise.resolve();
  /** What a look finds out; a test may let it set `absence`, or throw. */
  onLook: () => void = () => undefined;
  /** Set by a test where the view is to be stale; see {@link tellState}. */
  staleness: Staleness | undefined;
  /** When a probe is next worth a request; never, unless a test says so. */
  nextProbe: Monotonic = monotonic(Number.POSITIVE_INFINITY);
  /** What a probe finds out; a test may let it set `staleness`, or throw. */
  onProbe: () => void = () => undefined;
  readonly #handlers: ((change: Change<T>) => void)[] = [];
  readonly #stateHandlers: (() => void)[] = [];

  constructor({ clock, type, project, indexers }: FakeInformerOptions<T>) {
    this.type = type;
    this.freshness = new InformerFreshness(clock, type.plural);
    this.lister = new ObjectCache({
      project,
      indexers,
      isSelective: false,
      refused: (_, cause) => {
        throw cause instanceof Error ? cause : new Error('the projection threw');
      },
    });
  }

  onChange(handler: (change: Change<T>) => void): void {
    this.#handlers.push(handler);
  }

  get isAbsent(): boolean {
    return this.absence !== undefined;
  }

  onState(handler: () => void): void {
    this.#stateHandlers.push(handler);
  }

  /** Calls the handlers of {@link onState}, as when a test has changed the state. */
  tellState(): void {
    for (const handler of this.#stateHandlers) handler();
  }

  async look(): Promise<void> {
    this.onLook();
  }

  async probe(): Promise<void> {
    this.onProbe();
  }

  run(): Promise<void> {
    return Promise.resolve();
  }

  /** Has the watch show `object` as it is now. */
  show(object: KubernetesObject): void {
    this.#tell(object, this.lister.upsert(object));
  }

  /** Has a list that has begun, and has not ended, show `object`. */
  list(object: KubernetesObject): void {
    for (const change of this.lister.upsert(object)) this.#change(change);
  }

  /** Ends the list that began with `lister.beginList()` is whole, and was read at `revision`. */
  endList(revision: string): void {
    for (const change of this.lister.endList(revision)) this.#change(change);
  }

  /** Ends that the type is served. */
  empty(): void {
    for (const change of this.lister.clear()) this.#change(change);
  }

  /** Has the watch show that `object` was deleted. */
  remove(object: KubernetesObject): void {
    this.#tell(object, this.lister.remove(object));
  }

  #tell({ metadata }: KubernetesObject, changes: readonly Change<T>[]): void {
    this.freshness.delivered(metadata.resourceVersion);
    for (const change of changes) this.#change(change);
  }

  #change(change: Change<T>): void {
    for (const handler of this.#handlers) handler(change);
  }
}
