import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import type { Client, ObjectKey } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { createdUnlessShipped } from '#kubernetes/shipped-object.ts';
import { isNotFound } from '#kubernetes/transport/api-error.ts';
import { callOf, type Deadline } from '../review/deadline.ts';
import { hasMoved } from '../review/dependency.ts';
import { formatZoneEntry, zoneData } from './zone-entries.ts';

/** What {@link ZoneTracker} works with. */
export interface ZoneTrackerOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** `-zone-tracker.config-map-name`. */
  readonly configMapName: string;
}

/** The ConfigMap as it was read: texts by name of the set. */
export interface ZoneMap {
  readonly entries: ReadonlyMap<string, string>;
  /** Undefined: there is none. */
  readonly configMap: KubernetesObject | undefined;
}

/** Writes that lose against another client's are tried so often (QUIE-2). */
const attempts = 5;

/**
 * The ConfigMap of the last down-scales. Every write names the version that it was made from, and keeps all that
 * is not its own: labels, annotations, entries of other groups.
 */
export class ZoneTracker {
  readonly #options: ZoneTrackerOptions;

  constructor(options: ZoneTrackerOptions) {
    this.#options = options;
  }

  /**
   * Reads the map; where there is none, or the one that is shipped without entries, begins it with `sets` as scaled down
   * now: it is unknown what happened before.
   *
   * @throws what the client throws
   */
  async load(namespace: string, sets: readonly string[], deadline: Deadline): Promise<ZoneMap> {
    const map = await this.read(namespace, deadline);
    if (map.entries.size > 0) return map;
    try {
      return await this.#write(namespace, { map, sets }, deadline);
    } catch (error) {
      // Another replica was faster: that map counts.
      if (hasMoved(error)) return this.read(namespace, deadline);
      throw error;
    }
  }

  /** Reads the map, which may be absent. @throws what the client throws */
  async read(namespace: string, deadline: Deadline): Promise<ZoneMap> {
    const { client } = this.#options;
    try {
      const key = this.#key(namespace);
      const configMap = await client.get(resourceTypes.configMaps, key, callOf(deadline));
      return { configMap, entries: zoneData(configMap) };
    } catch (error) {
      if (isNotFound(error)) return { configMap: undefined, entries: new Map() };
      throw error;
    }
  }

  /**
   * Notes that `set` is scaled down now. Before a write is tried again, `mayWrite` sees what others have written.
   *
   * @returns false when `mayWrite` said no
   * @throws what the client throws
   */
  async note(
    { namespace, set }: { readonly namespace: string; readonly set: string },
    deadline: Deadline,
    change: { readonly from: ZoneMap; readonly mayWrite: (map: ZoneMap) => boolean },
  ): Promise<boolean> {
    let map = change.from;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#write(namespace, { map, sets: [set] }, deadline);
        return true;
      } catch (error) {
        if (attempt === attempts || !hasMoved(error)) throw error;
      }
      map = await this.read(namespace, deadline);
      if (!change.mayWrite(map)) return false;
    }
  }

  /** Notes `sets` as scaled down now, which is the safe reading of entries that cannot be read. Tried once. */
  async repair(
    namespace: string,
    work: { readonly map: ZoneMap; readonly sets: readonly string[] },
    deadline: Deadline,
  ): Promise<void> {
    await this.#write(namespace, work, deadline);
  }

  async #write(
    namespace: string,
    { map, sets }: { readonly map: ZoneMap; readonly sets: readonly string[] },
    deadline: Deadline,
  ): Promise<ZoneMap> {
    const { configMap } = map;
    if (configMap === undefined) return this.#create(namespace, sets, deadline);
    const { client } = this.#options;
    const body = { ...configMap, data: Object.fromEntries([...map.entries, ...this.#now(sets)]) };
    const key = this.#key(namespace);
    const write = { body, ...callOf(deadline) };
    const written = await client.replace(resourceTypes.configMaps, key, write);
    return { configMap: written, entries: zoneData(written) };
  }

  async #create(namespace: string, sets: readonly string[], deadline: Deadline): Promise<ZoneMap> {
    const { client } = this.#options;
    const body: JsonObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...this.#key(namespace) },
      data: Object.fromEntries(this.#now(sets)),
    };
    const write = { body, ...callOf(deadline) };
    const { configMapName: name } = this.#options;
    const shipped = { kind: 'ConfigMap', namespace, name };
    const configMap = await createdUnlessShipped(shipped, () =>
      client.create(resourceTypes.configMaps, { namespace }, write),
    );
    return { configMap, entries: zoneData(configMap) };
  }

  #now(sets: readonly string[]): readonly (readonly [string, string])[] {
    const entry = formatZoneEntry(this.#options.clock.now());
    return sets.map((set) => [set, entry]);
  }

  #key(namespace: string): ObjectKey {
    return { namespace, name: this.#options.configMapName };
  }
}
