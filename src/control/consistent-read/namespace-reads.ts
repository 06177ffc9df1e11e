import type { Clock } from '#base/clock.ts';
import { type Monotonic, monotonic, seconds } from '#base/units.ts';
import type { Client, ListResult } from '#kubernetes/client.ts';
import type { Cached, Informer } from '#kubernetes/informer/informer.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import { compareRevisions } from '#kubernetes/revision.ts';
import { undefinedIfAbsent } from '#kubernetes/transport/api-error.ts';
import { LaggingReadError, newestOf } from './consistent-list.ts';
import type { Read } from './overlaid-read.ts';
import { SharedRounds } from './shared-rounds.ts';

/** What {@link NamespaceReads} go through. */
export interface NamespaceReadPorts<View extends Cached> {
  readonly client: Client;
  readonly clock: Clock;
  /** The type of what is read, as the cache has it. */
  readonly type: ResourceType;
  readonly project: (object: KubernetesObject) => View;
  readonly informer: Pick<
    Informer<View>,
    'hasSynced' | 'isAbsent' | 'absence' | 'freshness' | 'look'
  >;
}

/** What the lists of one namespace have answered. */
interface Answered<View> {
  /** When the newest was sent. */
  readonly sentAt: Monotonic;
  /** Whether the server did not have the type. */
  readonly isAbsent: boolean;
  /** Undefined where the cache shows it all, or there was nothing to list. */
  readonly listed: Read<View> | undefined;
}

interface SentList {
  readonly list: ListResult;
  readonly sentAt: Monotonic;
  /** What a write of ours had been answered with by then. */
  readonly written: string | undefined;
}

/** Longest time that the answer to a list is waited for, once it is sent. */
const answerWithin = seconds(10);

/** Lists of one namespace that we ask for in addition to the watch of a type, and how old a view is that rests on both (D-51). */
export class NamespaceReads<View extends Cached> {
  readonly #ports: NamespaceReadPorts<View>;
  readonly #rounds: SharedRounds;
  /** Keyed by namespace. */
  readonly #reads = new Map<string, Answered<View>>();
  /** Namespaces whose lists were answered since {@link settle}. */
  readonly #answered = new Set<string>();

  constructor(ports: NamespaceReadPorts<View>) {
    this.#ports = ports;
    this.#rounds = new SharedRounds(ports.clock);
  }

  /** Reports whether anything says what `namespace` has, however long ago. */
  hasRead(namespace: string): boolean {
    return this.#ports.informer.hasSynced || this.#reads.has(namespace);
  }

  /** Returns the namespaces of which lists show something that the cache alone does not. */
  namespaces(): readonly string[] {
    return [...this.#reads.keys()];
  }

  /** Returns when the request was sent that proves the view of `namespace` last; undefined while nothing does. */
  provenAt(namespace: string): Monotonic | undefined {
    const { hasSynced, absence, freshness } = this.#ports.informer;
    const proofs = [
      this.#reads.get(namespace)?.sentAt,
      absence?.provenAt,
      hasSynced ? freshness.proof?.sentAt : undefined,
    ].filter((at) => at !== undefined);
    return proofs.length === 0 ? undefined : monotonic(Math.max(...proofs));
  }

  /** Returns the list of `namespace` that the cache has not reached yet. */
  unshown(namespace: string): Read<View> | undefined {
    return this.#reads.get(namespace)?.listed;
  }

  /**
   * Drops the lists that the cache has reached, and those that were sent before the type went.
   *
   * @returns the namespaces of which something else may be known than at the last call
   */
  settle(): ReadonlySet<string> {
    const settled = new Set(this.#answered);
    this.#answered.clear();
    for (const [namespace, read] of this.#reads) {
      const left = this.#leftOf(read);
      if (left === read) continue;
      if (left === undefined) this.#reads.delete(namespace);
      else this.#reads.set(namespace, left);
      settled.add(namespace);
    }
    return settled;
  }

  /**
   * Lists the objects of `namespace`; all share the request who ask before it is sent. A server that does not have the type
   * is asked for that alone.
   *
   * @throws what the client throws when the answer shows neither; RevisionWentBackError when it is older than what had been
   * seen (D-6), LaggingReadError when it is older than what we had written; the reason of `signal` when that aborts first
   */
  look(namespace: string, signal: AbortSignal): Promise<void> {
    return this.#rounds.join(
      namespace,
      (shared, sent) => this.#read(namespace, shared, sent),
      signal,
    );
  }

  async #read(namespace: string, signal: AbortSignal, sent: () => void): Promise<void> {
    const { client, clock, informer, type } = this.#ports;
    if (informer.isAbsent) {
      sent();
      await informer.look(signal);
      if (informer.isAbsent) return;
    }
    let sentAt = clock.monotonic();
    let { written } = informer.freshness;
    const beforeSend = (): void => {
      sentAt = clock.monotonic();
      ({ written } = informer.freshness);
      sent();
    };
    const list = await client
      .list(type, { namespace }, { signal, beforeSend, answerWithin })
      .catch(undefinedIfAbsent);
    if (list === undefined) this.#take(namespace, { sentAt, isAbsent: true, listed: undefined });
    else this.#listed(namespace, { list, sentAt, written });
  }

  #listed(namespace: string, { list, sentAt, written }: SentList): void {
    const { project, informer, type } = this.#ports;
    const { resourceVersion: revision, items } = list;
    if (written !== undefined && compareRevisions(revision, written) < 0) {
      throw new LaggingReadError(type.plural, { read: revision, written });
    }
    informer.freshness.consistentRead(revision, sentAt, newestOf(list));
    const objects = new Map(items.map((item) => project(item)).map((view) => [view.uid, view]));
    const listed = { revision, sentAt, objects };
    this.#take(namespace, { sentAt, isAbsent: false, listed });
  }

  /** Keeps, of two lists that were under way at once, the one with the newer content, whichever was answered last. */
  #take(namespace: string, read: Answered<View>): void {
    const known = this.#reads.get(namespace);
    const [older, newer] =
      known !== undefined && known.sentAt > read.sentAt ? [read, known] : [known, read];
    this.#reads.set(namespace, { ...newer, listed: contentOf(older, newer) });
    this.#answered.add(namespace);
  }

  /** Returns what `read` is still needed for: what the cache does not show, or when that was proven; undefined: for nothing. */
  #leftOf(read: Answered<View>): Answered<View> | undefined {
    const { sentAt, listed } = read;
    const { hasSynced, absence, freshness } = this.#ports.informer;
    if (absence !== undefined && absence.provenAt > sentAt) return undefined;
    const isShown = hasSynced && (listed === undefined || freshness.hasSeen(listed.revision));
    if (!isShown) return read;
    if (freshness.proof !== undefined && freshness.proof.sentAt >= sentAt) return undefined;
    return listed === undefined ? read : { ...read, listed: undefined };
  }
}

function contentOf<View>(
  older: Answered<View> | undefined,
  newer: Answered<View>,
): Read<View> | undefined {
  const [before, after] = [older?.listed, newer.listed];
  if (newer.isAbsent || before === undefined) return after;
  if (after === undefined) return before;
  return compareRevisions(before.revision, after.revision) > 0 ? before : after;
}
