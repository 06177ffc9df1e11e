import type { Clock } from '#base/clock.ts';
import { type Monotonic, monotonic, seconds } from '#base/units.ts';
import type { Read } from '#control/overlaid-read.ts';
import { isNotFound } from '#kubernetes/api-error.ts';
import type { Client, ListResult } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { compareRevisions, newerRevision } from '#kubernetes/revision.ts';
import { type BudgetView, budgetView } from './budget-view.ts';
import { SharedRounds } from './shared-rounds.ts';

/** What {@link BudgetReads} go through. */
export interface BudgetReadPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly informer: Pick<
    Informer<BudgetView>,
    'hasSynced' | 'isAbsent' | 'absence' | 'freshness' | 'look'
  >;
}

/** What the lists of one namespace have answered. */
interface NamespaceReads {
  /** When the newest was sent. */
  readonly sentAt: Monotonic;
  /** Whether the server did not have the type. */
  readonly isAbsent: boolean;
  /** Undefined where the cache shows it all, or there was nothing to list. */
  readonly listed: Read<BudgetView> | undefined;
}

/** Longest time that the answer to a list is waited for, once it is sent. */
const answerWithin = seconds(10);

/** Lists of budgets that we ask for beside the watch, and how old a view is that rests on both (D-51). */
export class BudgetReads {
  readonly #ports: BudgetReadPorts;
  readonly #rounds: SharedRounds;
  /** By namespace. */
  readonly #reads = new Map<string, NamespaceReads>();

  constructor(ports: BudgetReadPorts) {
    this.#ports = ports;
    this.#rounds = new SharedRounds(ports.clock);
  }

  /** Whether anything tells which budgets `namespace` has, however long ago. */
  hasRead(namespace: string): boolean {
    return this.#ports.informer.hasSynced || this.#reads.has(namespace);
  }

  /** When the request was sent that proves the view of `namespace` last; undefined while nothing does. */
  provenAt(namespace: string): Monotonic | undefined {
    const { hasSynced, absence, freshness } = this.#ports.informer;
    const proofs = [
      this.#reads.get(namespace)?.sentAt,
      absence?.provenAt,
      hasSynced ? freshness.proof?.sentAt : undefined,
    ].filter((at) => at !== undefined);
    return proofs.length === 0 ? undefined : monotonic(Math.max(...proofs));
  }

  /** The list of `namespace` that the cache has not reached yet. */
  unshown(namespace: string): Read<BudgetView> | undefined {
    return this.#reads.get(namespace)?.listed;
  }

  /** Drops the lists that the cache has reached, or that were sent before the type went. @returns their namespaces */
  settle(): readonly string[] {
    const { hasSynced, absence, freshness } = this.#ports.informer;
    const settled: string[] = [];
    for (const [namespace, read] of this.#reads) {
      const { sentAt, listed } = read;
      const isOver = absence !== undefined && absence.provenAt > sentAt;
      if (isOver) this.#reads.delete(namespace);
      else if (listed !== undefined && hasSynced && freshness.hasSeen(listed.revision)) {
        this.#reads.set(namespace, { ...read, listed: undefined });
      } else continue;
      settled.push(namespace);
    }
    return settled;
  }

  /**
   * Lists the budgets of `namespace`; all share the request who ask before it is sent. A server that does not have the type
   * is asked for that alone.
   *
   * @throws what the client throws when the answer tells neither; RevisionWentBackError when it is older than what had been
   * seen (D-6); the reason of `signal` when that aborts first
   */
  look(namespace: string, signal: AbortSignal): Promise<void> {
    return this.#rounds.join(
      namespace,
      (shared, sent) => this.#read(namespace, shared, sent),
      signal,
    );
  }

  async #read(namespace: string, signal: AbortSignal, sent: () => void): Promise<void> {
    const { client, clock, informer } = this.#ports;
    if (informer.isAbsent) {
      sent();
      await informer.look(signal);
      if (informer.isAbsent) return;
    }
    let sentAt = clock.monotonic();
    const beforeSend = (): void => {
      sentAt = clock.monotonic();
      sent();
    };
    const list = await client
      .list(
        resourceTypes.zoneAwarePodDisruptionBudgets,
        { namespace },
        { signal, beforeSend, answerWithin },
      )
      .catch(absent);
    if (list === undefined)
      this.#answered(namespace, { sentAt, isAbsent: true, listed: undefined });
    else this.#listed(namespace, { list, sentAt });
  }

  #listed(
    namespace: string,
    { list, sentAt }: { readonly list: ListResult; readonly sentAt: Monotonic },
  ): void {
    const { resourceVersion: revision, items } = list;
    let newest: string | undefined;
    for (const { metadata } of items) newest = newerRevision(newest, metadata.resourceVersion);
    this.#ports.informer.freshness.consistentRead(revision, sentAt, newest);
    const objects = new Map(items.map(budgetView).map((view) => [view.uid, view]));
    const listed = { revision, sentAt, objects };
    this.#answered(namespace, { sentAt, isAbsent: false, listed });
  }

  /** Of two lists that were under way at once, the one with the newer content stands, whichever was answered last. */
  #answered(namespace: string, read: NamespaceReads): void {
    const known = this.#reads.get(namespace);
    const [older, newer] =
      known !== undefined && known.sentAt > read.sentAt ? [read, known] : [known, read];
    this.#reads.set(namespace, { ...newer, listed: contentOf(older, newer) });
  }
}

function contentOf(
  older: NamespaceReads | undefined,
  newer: NamespaceReads,
): NamespaceReads['listed'] {
  const [before, after] = [older?.listed, newer.listed];
  if (newer.isAbsent || before === undefined) return after;
  if (after === undefined) return before;
  return compareRevisions(before.revision, after.revision) > 0 ? before : after;
}

/** A server without the type has no budgets. */
function absent(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
