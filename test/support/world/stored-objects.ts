import type { JsonObject } from '#base/json.ts';
import type { EventLog } from '#cluster/event-log.ts';

/** What a cluster stores in one namespace, as its commits tell from now on. */
export class StoredObjects {
  readonly #objects = new Map<string, JsonObject>();

  constructor(log: EventLog, namespace: string) {
    log.onCommit((commit) => {
      if (commit.namespace !== namespace) return;
      const key = `${commit.resource}/${commit.name}`;
      if (commit.after === undefined) this.#objects.delete(key);
      else this.#objects.set(key, commit.after);
    });
  }

  /** Returns the object `name` of `resource`, such as `statefulsets.apps`; undefined when there is none. */
  find(resource: string, name: string): JsonObject | undefined {
    return this.#objects.get(`${resource}/${name}`);
  }

  /** Names of all objects of `resource`. */
  names(resource: string): readonly string[] {
    return [...this.#objects.keys()]
      .filter((key) => key.startsWith(`${resource}/`))
      .map((key) => key.slice(resource.length + 1));
  }
}
