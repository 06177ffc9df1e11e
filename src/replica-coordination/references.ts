import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { after, type Instant, type Millis, type Monotonic, millis } from '#base/units.ts';
import type { ObjectRef, WriteBack } from '#control/decision.ts';
import type { SetSnapshot } from '#control/group-sets.ts';
import { isForbidden, isNotFound, isRequestFailure } from '#kubernetes/api-error.ts';
import type { Client } from '#kubernetes/client.ts';
import type { ScalableKinds } from '#kubernetes/discovery.ts';
import type { Lister } from '#kubernetes/informer.ts';
import { resourcePath } from '#kubernetes/resource-path.ts';
import { newerRevision } from '#kubernetes/revision.ts';
import { groupKey, groupOf } from '#statefulset/group.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { OperatorMetrics } from '#telemetry/operator-metrics.ts';
import { type Reference, referenceId, referenceOf } from './api.ts';
import type { ReferenceWatch } from './reference-watch.ts';
import { ReferenceWatches, typeId } from './reference-watches.ts';
import { countsOf } from './scale-counts.ts';
import type { ReferenceState } from './snapshot.ts';

/** The index of StatefulSets by the resource that they mirror; see {@link referenceIndexers}. */
const REFERENCE_INDEX = 'reference';

/** The indexer behind {@link REFERENCE_INDEX}. */
export const referenceIndexers = Object.freeze({
  [REFERENCE_INDEX]: (set: StatefulSetView): readonly string[] => {
    const reference = referenceOf(set);
    return reference === undefined ? [] : [referenceId(set.namespace, reference)];
  },
});

/** What mirrored resources are read through. */
export interface ReferencePorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly kinds: ScalableKinds;
  /** With {@link referenceIndexers}. */
  readonly statefulSets: Lister<StatefulSetView>;
  /** How often a resource is read that cannot be watched (D-23). */
  readonly interval: Millis;
  /** How soon a read that failed is repeated: no watch tells when it would succeed. */
  readonly retry: Millis;
  /** Has the group `key` planned again. */
  wake(key: string): void;
  /** Ends all watches. */
  readonly signal: AbortSignal;
}

type Known = Extract<ReferenceState, { kind: 'known' }>;

/** What was read last of one resource. */
interface Reading {
  readonly at: Monotonic;
  readonly state: Known | Exclude<ReferenceState, { kind: 'known' }>;
  /** The revision that was read; undefined where nothing was. */
  readonly revision: string | undefined;
  /** What the watch showed when it was read. */
  readonly shown: string | undefined;
}

/** The references of a group, and when the first of them is to be read again although nothing changes. */
export interface ReferencesRead {
  readonly states: ReadonlyMap<string, ReferenceState>;
  readonly again: Instant | undefined;
}

/**
 * The resources whose replicas sets mirror: read through their scale subresource once for each change that a watch
 * shows, or at the interval where they cannot be watched (SC-32, D-23, KW-15).
 */
export class References {
  readonly #ports: ReferencePorts;
  readonly #readings = new Map<string, Reading>();
  readonly #watches: ReferenceWatches;
  /** Types whose status we may not write (KW-29). */
  readonly #forbidden = new Set<string>();

  constructor(ports: ReferencePorts) {
    this.#ports = ports;
    this.#watches = new ReferenceWatches({
      ...ports,
      changed: ({ namespace, name, type: { group, kind } }) =>
        this.#changed(referenceId(namespace, { group, kind, name })),
    });
  }

  /** What the sets of the group `key` mirror. @throws when a watch can never be trusted again (D-6) */
  async read(
    key: string,
    sets: readonly SetSnapshot[],
    signal: AbortSignal,
  ): Promise<ReferencesRead> {
    const wanted = new Map<string, { readonly namespace: string; readonly reference: Reference }>();
    for (const { set } of sets) {
      const reference = referenceOf(set);
      if (reference === undefined || set.isDeleting) continue;
      wanted.set(referenceId(set.namespace, reference), { namespace: set.namespace, reference });
    }
    const used = new Set<string>();
    const states = new Map<string, ReferenceState>();
    let again: number | undefined;
    for (const [id, { namespace, reference }] of wanted) {
      const { state, watch, at } = await this.#readOne(id, { namespace, reference }, signal);
      if (watch !== undefined) used.add(watch);
      if (at !== undefined) again = Math.min(again ?? at, at);
      states.set(id, withoutOwn(state, sets));
    }
    this.#watches.use(key, used);
    const now = this.#ports.clock.now();
    const left = again === undefined ? undefined : millis(again - this.#ports.clock.monotonic());
    return { states, again: left === undefined ? undefined : after(now, left) };
  }

  /** Resolves when all watches have ended, which their signal asks for. */
  async ended(): Promise<void> {
    await this.#watches.ended();
  }

  /** The group `key` is gone, or mirrors nothing any more. */
  release(key: string): void {
    this.#watches.use(key, new Set());
  }

  /**
   * Reports a count to a resource, by the exact body that the peer sends (SC-40).
   * @returns whether it was stored; a refusal is logged, and one for lack of permission never tried again (KW-29)
   */
  async writeBack({ set, reference, replicas }: WriteBack, signal: AbortSignal): Promise<boolean> {
    const { client, log } = this.#ports;
    const { type, namespace, name } = reference;
    const fields = { name: set.name, replicas, referenceResource: `${type.plural}/${name}` };
    log.info('updating the status of a mirrored resource', fields);
    try {
      const body = { kind: 'merge', document: { status: { replicas } } } as const;
      const write = { subresource: 'status', body, signal } as const;
      await client.patch(type, { namespace, name }, write);
      this.#reported(reference, replicas);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      const err = errorOf(error);
      log.warn('cannot update the status of a mirrored resource', { ...fields, err });
      if (isForbidden(error)) {
        this.#forbidden.add(typeId(type));
        this.#ports.metrics.setPermissionRefused('patch', `${type.plural}/status`, true);
      }
      return false;
    }
  }

  async #readOne(
    id: string,
    wanted: { readonly namespace: string; readonly reference: Reference },
    signal: AbortSignal,
  ): Promise<{
    readonly state: ReferenceState;
    readonly watch: string | undefined;
    readonly at: Monotonic | number | undefined;
  }> {
    const { namespace, reference } = wanted;
    const { kinds, interval } = this.#ports;
    try {
      const resolved = await kinds.resolve(reference.group, reference.kind, signal);
      if (resolved.kind === 'unknown') {
        const { message } = resolved;
        const at = this.#ports.clock.monotonic() + interval;
        return { state: { kind: 'unresolved', message }, watch: undefined, at };
      }
      const ref = { type: resolved.type, namespace, name: reference.name };
      const [watchId, watch] = this.#watches.of(resolved.type, namespace);
      watch.throwIfFatal();
      const reading = await this.#current(id, { ref, watch, reference }, signal);
      const isFollowed = watch.isReliable && reading.state.kind === 'known';
      const at = isFollowed ? undefined : reading.at + this.#span(reading.revision);
      return { state: this.#stateOf(id, ref, reading), watch: watchId, at };
    } catch (error) {
      signal.throwIfAborted();
      if (!isRequestFailure(error)) throw error;
      const at = this.#ports.clock.monotonic() + this.#span(undefined);
      return { state: this.#unreadable(error), watch: undefined, at };
    }
  }

  /** The last reading while it still holds, else a new one. */
  async #current(
    id: string,
    what: {
      readonly ref: ObjectRef;
      readonly watch: ReferenceWatch;
      readonly reference: Reference;
    },
    signal: AbortSignal,
  ): Promise<Reading> {
    const last = this.#readings.get(id);
    if (last !== undefined && this.#holds(last, what.watch, what.ref.name)) return last;
    const shown = what.watch.shown(what.ref.name);
    const at = this.#ports.clock.monotonic();
    const read = await this.#get(what.ref, what.reference, signal);
    const reading = { ...read, at, shown };
    this.#readings.set(id, reading);
    return reading;
  }

  #holds(last: Reading, watch: ReferenceWatch, name: string): boolean {
    const shown = watch.shown(name);
    const isYoung = this.#ports.clock.monotonic() - last.at < this.#span(last.revision);
    if (!watch.isReliable) return isYoung;
    if (last.revision === undefined || shown === undefined) return isYoung && shown === last.shown;
    return newerRevision(last.revision, shown) === last.revision;
  }

  async #get(
    ref: ObjectRef,
    reference: Reference,
    signal: AbortSignal,
  ): Promise<Pick<Reading, 'state' | 'revision'>> {
    const { namespace, name, type } = ref;
    const path = resourcePath(type, { namespace, name, subresource: 'scale' });
    try {
      const scale = await this.#ports.client.raw({ method: 'GET', path }, { signal });
      const counts = countsOf(scale);
      if (counts === undefined) {
        const message = `its scale has no revision, or counts that are no numbers`;
        return { state: { kind: 'unreadable', message }, revision: undefined };
      }
      const { wanted, reported, revision } = counts;
      const state: Known = { kind: 'known', ref, wanted, reported, ...unshared };
      return { state, revision };
    } catch (error) {
      signal.throwIfAborted();
      if (!isRequestFailure(error)) throw error;
      // The type may be gone with its definition.
      if (isNotFound(error)) this.#ports.kinds.forget(reference.group, reference.kind);
      return { state: this.#unreadable(error), revision: undefined };
    }
  }

  #unreadable(error: Error): Extract<ReferenceState, { kind: 'unreadable' }> {
    const until = after(this.#ports.clock.now(), this.#span(undefined));
    return { kind: 'unreadable', message: error.message, until };
  }

  /** For how long a reading of `revision`, or one that failed, is good enough. */
  #span(revision: string | undefined): Millis {
    const { interval, retry } = this.#ports;
    return revision === undefined ? retry : interval;
  }

  #stateOf(id: string, { type }: ObjectRef, { state }: Reading): ReferenceState {
    if (state.kind !== 'known') return state;
    const isWriteBackForbidden = this.#forbidden.has(typeId(type));
    return {
      ...state,
      isWriteBackForbidden,
      others: this.#ports.statefulSets.by(REFERENCE_INDEX, id),
    };
  }

  /** What was read before stays as old as it was: somebody else may have written meanwhile, and the watch tells. */
  #reported(ref: ObjectRef, replicas: number): void {
    const { type, namespace, name } = ref;
    const id = referenceId(namespace, { group: type.group, kind: type.kind, name });
    const reading = this.#readings.get(id);
    if (reading?.state.kind !== 'known') return;
    this.#readings.set(id, { ...reading, state: { ...reading.state, reported: replicas } });
  }

  #changed(id: string): void {
    const { statefulSets } = this.#ports;
    const keys = new Set<string>();
    for (const set of statefulSets.by(REFERENCE_INDEX, id)) {
      const group = groupOf(set);
      if (group !== undefined) keys.add(groupKey(set.namespace, group));
    }
    for (const key of keys) this.#ports.wake(key);
  }
}

/** `others` are the sets of other groups. */
function withoutOwn(state: ReferenceState, own: readonly SetSnapshot[]): ReferenceState {
  if (state.kind !== 'known' || state.others.length === 0) return state;
  const uids = new Set(own.map(({ set }) => set.uid));
  return { ...state, others: state.others.filter(({ uid }) => !uids.has(uid)) };
}

const unshared = { others: [], isWriteBackForbidden: false } as const;
