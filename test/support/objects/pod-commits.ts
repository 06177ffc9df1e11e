import type { JsonObject } from '#base/json.ts';
import { instant } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';

/** The pods of a set `db`, and what the store reports each change to one. */
export class PodCommits {
  readonly #see: (commit: Commit) => void;
  readonly #pods = new Map<string, JsonObject>();

  /** @param see is called with each change */
  constructor(see: (commit: Commit) => void) {
    this.#see = see;
  }

  /** Returns the pod `ordinal`; undefined where there is none. */
  get(ordinal: number): JsonObject | undefined {
    return this.#pods.get(`db-${ordinal}`);
  }

  /** Stores `after` as the pod `ordinal`; undefined: it is gone. */
  put(ordinal: number, after: JsonObject | undefined): void {
    const name = `db-${ordinal}`;
    const before = this.#pods.get(name);
    if (after === undefined) this.#pods.delete(name);
    else this.#pods.set(name, after);
    this.#see({
      at: instant(0),
      revision: 1,
      verb: 'update',
      resource: 'pods',
      namespace: 'demo',
      name,
      uid: name,
      user: 'operator',
      callId: 1,
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    });
  }
}
