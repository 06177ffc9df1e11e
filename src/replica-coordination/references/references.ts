import { assertNever } from '#base/assert-never.ts';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { type Millis, type Monotonic, monotonic } from '#base/units.ts';
import type { ObjectRef, WriteBack } from '#control/decision/decision.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import { isGivenUp, unlessSent } from '#control/write/unless-sent.ts';
import type { Client } from '#kubernetes/client.ts';
import type { ScalableKinds } from '#kubernetes/discovery.ts';
import type { Lister } from '#kubernetes/informer/informer.ts';
import type { ObjectMeta } from '#kubernetes/object.ts';
import { isForbidden, isRequestFailure } from '#kubernetes/transport/api-error.ts';
import { groupKeyOf } from '#statefulset/group.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { referenceId, referenceOf } from '../api.ts';
import { readScale } from '../scale/read-scale.ts';
import { type PacedWrite, type PaceMoment, WritePaces } from '../scale/write-pace.ts';
import type { ReferenceState } from '../snapshot.ts';
import { type Mirrored, mirroredBy } from './mirrored.ts';
import {
  afterReport,
  type Movement,
  movementSince,
  type ReferenceReading,
} from './reference-reading.ts';
import type { ReferenceWatch } from './reference-watch.ts';
import { ReferenceWatches, typeId } from './reference-watches.ts';
import { StatusReads } from './status-reads.ts';

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
  /** How soon a read that failed is repeated: no watch says when it would succeed. */
  readonly retry: Millis;
  /** Has the group `key` planned again. */
  wake(key: string): void;
  /** Ends all watches. */
  readonly signal: AbortSignal;
}

/** What was found out last about one resource, and how. */
interface Looked {
  readonly reading: ReferenceReading;
  /** Undefined where the server has no such kind, or could not say. */
  readonly found: { readonly ref: ObjectRef; readonly watch: ReferenceWatch } | undefined;
}

/**
 * The resources whose replicas sets mirror: read through their scale subresource once for each change that a watch
 * shows, or at the interval where they cannot be watched (SC-32, D-23, KW-15). What they report is written ever more
 * rarely where another client writes something else, and read no more often than that takes.
 */
export class References {
  readonly #ports: ReferencePorts;
  /** Keyed by {@link referenceId}. */
  readonly #looked = new Map<string, Looked>();
  readonly #watches: ReferenceWatches;
  readonly #statusReads = new StatusReads();
  readonly #paces = new WritePaces();
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

  /**
   * Reads what the sets of the group `key` mirror, as far as what is known of it does not hold any more.
   * @throws when a watch can never be trusted again (D-6)
   */
  async refresh(key: string, sets: readonly SetSnapshot[], signal: AbortSignal): Promise<void> {
    this.#paces.sweep(this.#ports.clock.monotonic());
    const watches = await Promise.all(
      [...mirroredBy(sets)].map(([id, mirrored]) => this.#refreshOne(id, mirrored, signal)),
    );
    this.#watches.use(key, new Set(watches.filter((watch) => watch !== undefined)));
  }

  /** Returns what is known of the resources that `sets` mirror, by {@link referenceId}; asks nothing. */
  statesOf(sets: readonly SetSnapshot[]): ReadonlyMap<string, ReferenceState> {
    const states = new Map<string, ReferenceState>();
    for (const id of mirroredBy(sets).keys()) {
      const looked = this.#looked.get(id);
      if (looked !== undefined) states.set(id, this.#stateOf(id, looked, sets));
    }
    return states;
  }

  /** Resolves when all watches have ended, which their signal asks for. */
  async ended(): Promise<void> {
    await this.#watches.ended();
  }

  /** Forgets the group `key`, which is gone, or mirrors nothing any more. */
  release(key: string): void {
    this.#watches.use(key, new Set());
  }

  /**
   * Reports a count to a resource, by the exact body that the peer sends (SC-40).
   * @returns whether it was stored; a refusal is logged, and one for lack of permission never tried again (KW-29)
   */
  async writeBack(decision: WriteBack, signal: AbortSignal): Promise<boolean> {
    const { client, log } = this.#ports;
    const { set, reference, replicas } = decision;
    const { type, namespace, name } = reference;
    const fields = { name: set.name, replicas, referenceResource: `${type.plural}/${name}` };
    log.info('updating the status of a mirrored resource', fields);
    try {
      const body = { kind: 'merge', document: { status: { replicas } } } as const;
      const write = { subresource: 'status', body, ...unlessSent(signal) } as const;
      const { metadata } = await client.patch(type, { namespace, name }, write);
      this.#reported(decision, metadata);
      return true;
    } catch (error) {
      if (isGivenUp(error, signal)) throw error;
      const err = errorOf(error);
      log.warn('cannot update the status of a mirrored resource', { ...fields, err });
      this.#paces.refused(pacedWrite(decision), err.message, this.#moment());
      if (isForbidden(error)) {
        this.#forbidden.add(typeId(type));
        this.#ports.metrics.setPermissionRefused('patch', `${type.plural}/status`, true);
      }
      return false;
    }
  }

  /** Returns what {@link ReferenceWatches.use} calls the watch of the resource; undefined without one */
  async #refreshOne(
    id: string,
    { namespace, reference }: Mirrored,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { kinds, clock } = this.#ports;
    const at = clock.monotonic();
    const last = this.#looked.get(id);
    if (last?.found === undefined && this.#isRefused(last?.reading)) return undefined;
    try {
      const resolved = await kinds.resolve(reference.group, reference.kind, signal);
      if (resolved.kind === 'unknown') {
        const { message } = resolved;
        const reading: ReferenceReading = { kind: 'unresolved', message, at, shown: undefined };
        this.#looked.set(id, { reading, found: undefined });
        return undefined;
      }
      const ref = { type: resolved.type, namespace, name: reference.name };
      const [watchId, watch] = this.#watches.of(resolved.type, namespace);
      watch.throwIfFatal();
      await this.#read(id, { ref, watch }, signal);
      return watchId;
    } catch (error) {
      signal.throwIfAborted();
      if (!isRequestFailure(error)) throw error;
      const { message } = error;
      const failed = { kind: 'unreadable', message, isAbsent: false } as const;
      const reading: ReferenceReading = { ...failed, at: clock.monotonic(), shown: undefined };
      this.#looked.set(id, { reading, found: undefined });
      return undefined;
    }
  }

  /** Reports whether it could not be read less than the retry time ago: no pass waits for that again so soon. */
  #isRefused(reading: ReferenceReading | undefined): boolean {
    const { clock, retry } = this.#ports;
    return reading?.kind === 'unreadable' && clock.monotonic() < reading.at + retry;
  }

  /** Reads the resource, unless what was read last still holds. */
  async #read(id: string, found: NonNullable<Looked['found']>, signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const last = this.#looked.get(id);
    const due = last?.found === undefined ? undefined : this.#dueAt(id, last.reading, found);
    const at = clock.monotonic();
    if (last !== undefined && due !== undefined && due > at) {
      this.#looked.set(id, { reading: last.reading, found });
      return;
    }
    if (last !== undefined && this.#movement(last.reading, found) === 'status') {
      this.#statusReads.read(id, at);
    }
    const shown = found.watch.shown(found.ref.name)?.revision;
    const read = await readScale(found.ref, this.#ports, signal);
    const readAt = read.kind === 'known' ? at : clock.monotonic();
    this.#looked.set(id, { reading: { ...read, at: readAt, shown }, found });
  }

  /** Returns when the resource is to be read again, as far as can be seen now. */
  #dueAt(id: string, reading: ReferenceReading, found: Looked['found']): Monotonic {
    const { interval, retry } = this.#ports;
    const isPolled = reading.kind === 'known' || reading.kind === 'unresolved';
    const polledAt = monotonic(reading.at + (isPolled ? interval : retry));
    // What the watch shows to be back is read at once; what fails or hangs would fail or hang again with each change.
    if (reading.kind === 'unreadable' && !reading.isAbsent) return polledAt;
    const movement = this.#movement(reading, found);
    switch (movement) {
      case 'none':
        return never;
      case 'status':
        return this.#statusReads.nextAt(id);
      case 'spec':
        return atOnce;
      case 'unknown':
        return polledAt;
      default:
        return assertNever(movement);
    }
  }

  #movement(reading: ReferenceReading, found: Looked['found']): Movement {
    if (found?.watch.isReliable !== true) return 'unknown';
    return movementSince(reading, found.watch.shown(found.ref.name));
  }

  #stateOf(id: string, looked: Looked, sets: readonly SetSnapshot[]): ReferenceState {
    const { reading, found } = looked;
    const due = this.#dueAt(id, reading, found);
    // What the watch shows to have changed has woken the group already.
    const again = due === never || due === atOnce ? {} : { lookAgainAt: due };
    if (reading.kind === 'unreadable') {
      const { kind, message, isAbsent } = reading;
      return { kind, message, isAbsent, ...again };
    }
    if (reading.kind === 'unresolved') {
      return { kind: 'unresolved', message: reading.message, ...again };
    }
    if (found === undefined) return { kind: 'unreadable', message: 'it was not found', ...again };
    const own = new Set(sets.map(({ set }) => set.uid));
    const all = this.#ports.statefulSets.by(REFERENCE_INDEX, id);
    const pace = this.#paces.of(id, this.#ports.clock.monotonic());
    const { wanted, reported } = reading;
    return {
      kind: 'known',
      ref: found.ref,
      wanted,
      reported,
      hasChanged: this.#movement(reading, found) === 'spec',
      others: all.filter(({ uid }) => !own.has(uid)),
      isWriteBackForbidden: this.#forbidden.has(typeId(found.ref.type)),
      ...(pace !== undefined && { pace }),
      ...again,
    };
  }

  #reported(decision: WriteBack, { resourceVersion: revision, generation }: ObjectMeta): void {
    const write = pacedWrite(decision);
    this.#paces.written(write, this.#moment());
    const looked = this.#looked.get(write.key);
    if (looked?.found === undefined) return;
    const stored = { reported: write.to, revision, generation };
    const shown = looked.found.watch.shown(looked.found.ref.name);
    const reading = afterReport(looked.reading, stored, shown);
    this.#looked.set(write.key, { ...looked, reading });
  }

  #moment(): PaceMoment {
    const { clock } = this.#ports;
    return { now: clock.now(), at: clock.monotonic() };
  }

  #changed(id: string): void {
    const { statefulSets } = this.#ports;
    const keys = new Set<string>();
    for (const set of statefulSets.by(REFERENCE_INDEX, id)) {
      const key = groupKeyOf(set);
      if (key !== undefined) keys.add(key);
    }
    for (const key of keys) this.#ports.wake(key);
  }
}

const never = monotonic(Number.POSITIVE_INFINITY);
const atOnce = monotonic(Number.NEGATIVE_INFINITY);

function pacedWrite({ reference, from, replicas: to }: WriteBack): PacedWrite {
  const { type, namespace, name } = reference;
  const key = referenceId(namespace, { group: type.group, kind: type.kind, name });
  return { key, subject: `the status of ${type.kind} "${name}"`, from, to };
}
