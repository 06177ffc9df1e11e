import type { ObjectRef } from '#control/decision/decision.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import { ReferenceWatch, type ReferenceWatchPorts } from './reference-watch.ts';

/** What the watches of mirrored resources go through. */
export interface ReferenceWatchesPorts extends Omit<ReferenceWatchPorts, 'changed'> {
  /** Ends all watches. */
  readonly signal: AbortSignal;
  /** Notes that the object has changed, or may have. */
  changed(ref: ObjectRef): void;
}

/** One watch for each type and namespace that some group mirrors; one that no group uses any more ends. */
export class ReferenceWatches {
  readonly #ports: ReferenceWatchesPorts;
  /** Keyed by namespace and type. */
  readonly #watches = new Map<string, ReferenceWatch>();
  /** Which groups use which watch, by key of the group. */
  readonly #users = new Map<string, ReadonlySet<string>>();
  readonly #running = new Set<Promise<void>>();

  constructor(ports: ReferenceWatchesPorts) {
    this.#ports = ports;
  }

  /** Returns the watch of `type` in `namespace`, which begins if it was not there, and what {@link use} calls it. */
  of(type: ResourceType, namespace: string): readonly [id: string, watch: ReferenceWatch] {
    const id = `${namespace}/${typeId(type)}`;
    const known = this.#watches.get(id);
    if (known !== undefined) return [id, known];
    const watch = new ReferenceWatch(type, namespace, {
      ...this.#ports,
      changed: (name) => this.#ports.changed({ type, namespace, name }),
    });
    this.#watches.set(id, watch);
    const running = watch.run(this.#ports.signal).finally(() => this.#running.delete(running));
    this.#running.add(running);
    return [id, watch];
  }

  /** Notes that the group `key` uses exactly the watches `used` from now on. */
  use(key: string, used: ReadonlySet<string>): void {
    const before = this.#users.get(key);
    if (isSameSet(before, used)) return;
    if (used.size === 0) this.#users.delete(key);
    else this.#users.set(key, used);
    for (const id of before ?? []) {
      const isUsed = [...this.#users.values()].some((each) => each.has(id));
      if (isUsed) continue;
      this.#watches.get(id)?.stop();
      this.#watches.delete(id);
    }
  }

  /** Resolves when all watches have ended, which their signal asks for. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }
}

/** Names a type within one cluster. */
export function typeId({ group, version, plural }: ResourceType): string {
  return `${plural}.${version}.${group}`;
}

function isSameSet(one: ReadonlySet<string> | undefined, other: ReadonlySet<string>): boolean {
  return (one?.size ?? 0) === other.size && [...other].every((each) => one?.has(each) === true);
}
