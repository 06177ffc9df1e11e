import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isNotFound } from '#kubernetes/transport/api-error.ts';
import { objectAt, stringAt } from '#statefulset/parse-fields.ts';

/** Revisions whose age is remembered; one that is forgotten is read again. */
const most = 1_000;

/** When revisions of sets were made: one that was made before another is a former version, which has come back. */
export class RevisionAges {
  readonly #client: Client;
  /** By namespace and name; empty for one that is gone. */
  readonly #made = new Map<string, string>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Reports whether `next` was made before `former`; undefined while that has not been read. */
  isOlder(namespace: string, next: string, former: string): boolean | undefined {
    if (former === '' || next === '' || former === next) return false;
    const [one, other] = [next, former].map((name) => this.#made.get(`${namespace}/${name}`));
    if (one === undefined || other === undefined) return undefined;
    return one !== '' && other !== '' && one < other;
  }

  /** Reads when `names` were made. @throws what the requests fail with */
  async read(namespace: string, names: readonly string[], signal: AbortSignal): Promise<void> {
    if (this.#made.size > most) this.#made.clear();
    const missing = names.filter((name) => !this.#made.has(`${namespace}/${name}`));
    await Promise.all(
      missing.map(async (name) => {
        const made = await this.#madeAt(namespace, name, signal);
        this.#made.set(`${namespace}/${name}`, made);
      }),
    );
  }

  async #madeAt(namespace: string, name: string, signal: AbortSignal): Promise<string> {
    try {
      const key = { namespace, name };
      const found = await this.#client.get(resourceTypes.controllerRevisions, key, { signal });
      return stringAt(objectAt(found, 'metadata'), 'creationTimestamp') ?? '';
    } catch (error) {
      if (isNotFound(error)) return '';
      throw error;
    }
  }
}
