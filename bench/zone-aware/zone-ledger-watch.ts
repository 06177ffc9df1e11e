import { isJsonArray, isJsonObject, type JsonObject, jsonIn } from '#base/json.ts';
import { textAt } from '#cluster/json/read-json.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Cached, Informer } from '#kubernetes/informer/informer.ts';
import { createInformer } from '#kubernetes/informer/shared-informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { systemClock } from '#telemetry/system-clock.ts';

interface LedgerView extends Cached {
  /** uids of the pods that are given away. */
  readonly uids: ReadonlySet<string>;
}

const prefix = 'rollout-operator-zone-ledger-';

/** The ledgers of ZoneDisruptionBudgets, as a watch of the API server shows each of their versions. */
export class LedgerWatch {
  /** Versions that gave something away. */
  rounds = 0;
  /** Versions that only took something out. */
  releases = 0;
  readonly #maps: Informer<LedgerView>;
  readonly #ending = new AbortController();
  readonly #wakes = new Set<() => void>();
  #running: Promise<void> = Promise.resolve();

  private constructor(client: Client) {
    this.#maps = createInformer({
      client,
      clock: systemClock(),
      type: resourceTypes.configMaps,
      project: ledgerView,
      indexers: {},
      report: () => undefined,
    });
    this.#maps.onChange((change) => {
      if (change.kind === 'updated') this.#see(change.old, change.object);
      for (const wake of this.#wakes) wake();
    });
  }

  /** Returns a watch that shows all ledgers. */
  static async start(client: Client): Promise<LedgerWatch> {
    const watch = new LedgerWatch(client);
    watch.#running = watch.#maps.run(watch.#ending.signal);
    await watch.#maps.synced;
    return watch;
  }

  get hasAny(): boolean {
    return this.#ledgers().length > 0;
  }

  /** Whether nothing is given away. */
  get isEmpty(): boolean {
    return this.#ledgers().every(({ uids }) => uids.size === 0);
  }

  /** Resolves as soon as the watch shows that `holds`. */
  async until(holds: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (holds()) resolve();
    };
    this.#wakes.add(look);
    look();
    await promise;
    this.#wakes.delete(look);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#running.catch(() => undefined);
  }

  #ledgers(): readonly LedgerView[] {
    return [...this.#maps.lister.list()].filter(({ name }) => name.startsWith(prefix));
  }

  #see(before: LedgerView, after: LedgerView): void {
    if (!after.name.startsWith(prefix)) return;
    if ([...after.uids].some((uid) => !before.uids.has(uid))) this.rounds += 1;
    else if (after.uids.size < before.uids.size) this.releases += 1;
  }
}

function ledgerView(object: JsonObject): LedgerView {
  const list = jsonIn(textAt(object, 'data', 'reservations'));
  const uids = isJsonArray(list)
    ? list.flatMap((each) => (isJsonObject(each) ? textAt(each, 'uid') : []))
    : [];
  return {
    namespace: textAt(object, 'metadata', 'namespace'),
    name: textAt(object, 'metadata', 'name'),
    uid: textAt(object, 'metadata', 'uid'),
    resourceVersion: textAt(object, 'metadata', 'resourceVersion'),
    uids: new Set(uids),
  };
}
